/* Packets between the two programs of the rig, and the account of what arrives. C99, no allocation, no state of its own.
 *
 * Every packet has PACKET_SIZE bytes, little endian:
 *   0  magic "ZVRG"      4  version 1      6  kind: 1 command, 2 measurement      8  sequence, rising by 1 from 1
 *  12  flags            16  time of the sender, ns                               24  13 doubles: payload
 * 128  sequence of the command that a measurement answers                       132  CRC-32 of bytes 0..131
 */
#ifndef RIG_LINK_H
#define RIG_LINK_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { PACKET_SIZE = 136, PACKET_NUMBERS = 13 };
enum { PACKET_COMMAND = 1, PACKET_MEASUREMENT = 2 };
enum { FLAG_STOP = 1, FLAG_CONTACT = 2, FLAG_END = 4 };

typedef struct {
  uint16_t kind;
  uint32_t sequence;
  uint32_t flags;
  uint64_t time_ns;
  uint32_t answers;
  double numbers[PACKET_NUMBERS]; /* command: position, quaternion, twist; measurement: wrench, 0... */
} packet_t;

/* what became of a packet */
typedef enum { LINK_NEW, LINK_CORRUPT, LINK_DUPLICATE, LINK_LATE, LINK_FOREIGN } link_result;

typedef struct {
  uint16_t kind;     /* that is expected */
  uint32_t newest;   /* sequence */
  uint64_t seen;     /* bit i: newest - i has arrived */
  int64_t accepted;  /* newer than all before */
  int64_t lost;      /* gaps, less those that came late */
  int64_t late;      /* older than the newest, for the first time */
  int64_t duplicate; /* for the second time */
  int64_t corrupt;   /* length, magic, version, checksum or numbers */
  int64_t foreign;   /* sound, but of another kind */
} link_t;

static inline uint32_t crc32_of(const unsigned char* data, size_t size) {
  uint32_t crc = 0xFFFFFFFFu;
  for (size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1u)));
  }
  return ~crc;
}

static inline void put_le(unsigned char* at, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) at[i] = (unsigned char)(value >> (8 * i));
}
static inline uint64_t get_le(const unsigned char* at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) value |= (uint64_t)at[i] << (8 * i);
  return value;
}

static inline void packet_write(const packet_t* packet, unsigned char bytes[PACKET_SIZE]) {
  memcpy(bytes, "ZVRG", 4);
  put_le(bytes + 4, 1, 2);
  put_le(bytes + 6, packet->kind, 2);
  put_le(bytes + 8, packet->sequence, 4);
  put_le(bytes + 12, packet->flags, 4);
  put_le(bytes + 16, packet->time_ns, 8);
  for (int i = 0; i < PACKET_NUMBERS; ++i) {
    uint64_t bits;
    memcpy(&bits, &packet->numbers[i], 8);
    put_le(bytes + 24 + 8 * i, bits, 8);
  }
  put_le(bytes + 128, packet->answers, 4);
  put_le(bytes + 132, crc32_of(bytes, 132), 4);
}

/* 1 if the bytes are a packet; nothing is believed before the checksum is right, numbers must be finite */
static inline int packet_read(const unsigned char* bytes, size_t size, packet_t* packet) {
  if (size != PACKET_SIZE || memcmp(bytes, "ZVRG", 4) != 0 || get_le(bytes + 4, 2) != 1) return 0;
  if (get_le(bytes + 132, 4) != crc32_of(bytes, 132)) return 0;
  packet->kind = (uint16_t)get_le(bytes + 6, 2);
  packet->sequence = (uint32_t)get_le(bytes + 8, 4);
  packet->flags = (uint32_t)get_le(bytes + 12, 4);
  packet->time_ns = get_le(bytes + 16, 8);
  packet->answers = (uint32_t)get_le(bytes + 128, 4);
  for (int i = 0; i < PACKET_NUMBERS; ++i) {
    const uint64_t bits = get_le(bytes + 24 + 8 * i, 8);
    memcpy(&packet->numbers[i], &bits, 8);
    if (!isfinite(packet->numbers[i])) return 0;
  }
  return 1;
}

/* Account for what arrived. Only LINK_NEW is to be used; sequences may wrap around. */
static inline link_result link_take(link_t* link, const unsigned char* bytes, size_t size, packet_t* packet) {
  packet_t got;
  if (!packet_read(bytes, size, &got)) {
    ++link->corrupt;
    return LINK_CORRUPT;
  }
  if (got.kind != link->kind) {
    ++link->foreign;
    return LINK_FOREIGN;
  }
  const uint32_t ahead = got.sequence - link->newest;
  if (ahead != 0 && ahead < 0x80000000u) {
    link->lost += (int64_t)ahead - 1;
    link->seen = ahead < 64 ? (link->seen << ahead) | 1u : 1u;
    link->newest = got.sequence;
    ++link->accepted;
    *packet = got;
    return LINK_NEW;
  }
  const uint32_t behind = link->newest - got.sequence;
  if (behind < 64 && (link->seen >> behind & 1u) != 0) {
    ++link->duplicate;
    return LINK_DUPLICATE;
  }
  ++link->late;
  if (behind < 64) {
    link->seen |= (uint64_t)1 << behind;
    --link->lost;
  }
  return LINK_LATE;
}

#endif
