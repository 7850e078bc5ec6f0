/* Random and damaged packets against link.h: nothing crashes, no number that is not finite comes through, the account adds
 * up. For -fsanitize=address,undefined. Usage: fuzz_link [rounds] [seed] */
#include <stdio.h>
#include <stdlib.h>

#include "link.h"

static uint64_t state;
static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

int main(int argc, char** argv) {
  const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 200000;
  state = 0x9E3779B97F4A7C15u * (1u + (argc > 2 ? strtoull(argv[2], NULL, 10) : 0u));
  link_t link = {.kind = PACKET_MEASUREMENT};
  uint32_t sequence = 0;
  long calls = 0, sound = 0;
  for (long i = 0; i < rounds; ++i) {
    const size_t size = next() % 4 == 0 ? next() % 200 : PACKET_SIZE;
    unsigned char* bytes = malloc(size ? size : 1); /* of its true size: reading beyond is seen */
    if (bytes == NULL) return 1;
    for (size_t j = 0; j < size; ++j) bytes[j] = (unsigned char)next();
    int whole = 0;
    if (size == PACKET_SIZE && next() % 8 != 0) {
      packet_t packet = {.kind = (uint16_t)(next() % 8 == 0 ? next() : PACKET_MEASUREMENT)};
      sequence += (uint32_t)(next() % 8 == 0 ? next() : 1); /* also far ahead and back around */
      packet.sequence = sequence - (uint32_t)(next() % 4 == 0 ? next() % 100 : 0);
      packet.flags = (uint32_t)next();
      for (int j = 0; j < PACKET_NUMBERS; ++j) {
        const uint64_t bits = next() % 4 == 0 ? next() : (uint64_t)0x3FF0000000000000u;
        memcpy(&packet.numbers[j], &bits, 8); /* any bits: infinities and NaN among them */
      }
      packet_write(&packet, bytes);
      whole = 1;
      if (next() % 3 == 0) {
        bytes[next() % size] ^= (unsigned char)(1u << next() % 8);
        whole = 0;
      }
    }
    packet_t got;
    memset(&got, 0, sizeof got);
    const link_result result = link_take(&link, bytes, size, &got);
    ++calls;
    if (result == LINK_NEW) {
      ++sound;
      for (int j = 0; j < PACKET_NUMBERS; ++j)
        if (!isfinite(got.numbers[j])) return 3;
      if (got.kind != PACKET_MEASUREMENT || !whole) return 4;
    }
    if (link.accepted + link.late + link.duplicate + link.corrupt + link.foreign != calls) return 5;
    free(bytes);
  }
  printf("%ld packets, %ld new, %lld corrupt, %lld late, %lld duplicate, %lld foreign\n", calls, sound,
         (long long)link.corrupt, (long long)link.late, (long long)link.duplicate, (long long)link.foreign);
  return 0;
}
