/* Process B of the loopback rig: a simulated facility. Carries out the commanded pose a number of periods late, feels a
 * spring and a damper, and answers with the measured wrench. It can lose, delay, double and corrupt its packets.
 *
 *   facility --listen 9002 --send 9001 --delay 10 --stiffness 1e4 [--tilt 0] [--damping 0] [--held]
 *            [--origin X]
 *            [--lose 0.01] [--late 0.01] [--double 0.01] [--corrupt 0.01] [--foreign 0.01] [--nan-at K] [--silent-after K]
 *            [--stop-at K] [--seed 1]
 *
 * x is the docking axis: the faces touch at --origin, without it where the first command is. Without --held the contact only
 * pushes. It ends with the command that has the flag END, or after two seconds without any. The last line of stdout is JSON:
 * what was done to the packets.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "link.h"

enum { LINE = 4096, GONE_MS = 2000 };

static packet_t line[LINE]; /* commands by their sequence, for the delay */
static uint64_t state;

static double uniform(void) { /* xorshift */
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (double)(state >> 11) * 0x1p-53;
}

static int64_t now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int main(int argc, char** argv) {
  enum {
    P_LISTEN,
    P_SEND,
    DELAY,
    STIFFNESS,
    TILT,
    DAMPING,
    LOSE,
    LATER,
    TWICE,
    CORRUPT,
    FOREIGN,
    NAN_AT,
    SILENT,
    STOP_AT,
    SEED,
    ORIGIN,
    COUNT
  };
  static const struct {
    const char* name;
    double start, least, most;
    int whole;
  } options[COUNT] = {
      {"--listen", 9002, 1, 65535, 1},
      {"--send", 9001, 1, 65535, 1},
      {"--delay", 0, 0, LINE - 1, 1},
      {"--stiffness", 0, 0, 1e15, 0},
      {"--tilt", 0, 0, 1e15, 0},
      {"--damping", 0, 0, 1e15, 0},
      {"--lose", 0, 0, 1, 0},
      {"--late", 0, 0, 1, 0},
      {"--double", 0, 0, 1, 0},
      {"--corrupt", 0, 0, 1, 0},
      {"--foreign", 0, 0, 1, 0},
      {"--nan-at", -1, 0, UINT32_MAX, 1},
      {"--silent-after", -1, 0, UINT32_MAX, 1},
      {"--stop-at", -1, 0, UINT32_MAX, 1},
      {"--seed", 1, 0, UINT32_MAX, 1},
      {"--origin", NAN, -1e6, 1e6, 0},
  };
  double value[COUNT];
  int held = 0;
  for (int j = 0; j < COUNT; ++j) value[j] = options[j].start;
  for (int i = 1; i < argc; ++i) {
    int found = -1;
    for (int j = 0; j < COUNT; ++j)
      if (strcmp(argv[i], options[j].name) == 0) found = j;
    if (strcmp(argv[i], "--held") == 0) {
      held = 1;
    } else if (found >= 0 && i + 1 < argc) {
      const double least = options[found].least, most = options[found].most;
      char* end;
      const double x = strtod(argv[++i], &end);
      if (*end != '\0' || end == argv[i] || !(x >= least && x <= most) || (options[found].whole && x != floor(x))) {
        fprintf(stderr, "facility: %s is '%s', expected a %snumber from %.10g to %.10g\n", options[found].name, argv[i],
                options[found].whole ? "whole " : "", least, most);
        return 2;
      }
      value[found] = x;
    } else {
      fprintf(stderr, "facility: what is '%s'?%s\n", argv[i],
              i + 1 < argc || argv[i][0] != '-' ? "" : " Or its value is missing.");
      return 2;
    }
  }
  const double chances = value[LOSE] + value[LATER] + value[TWICE] + value[CORRUPT] + value[FOREIGN];
  if (chances > 1.0 + 1e-9) {
    fprintf(stderr, "facility: --lose, --late, --double, --corrupt and --foreign add up to %g, expected at most 1\n",
            chances);
    return 2;
  }
  const uint32_t delay = (uint32_t)value[DELAY];
  state = 0x9E3779B97F4A7C15u * ((uint64_t)value[SEED] + 1);

  const int sock = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)value[P_LISTEN])};
  struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((uint16_t)value[P_SEND])};
  here.sin_addr.s_addr = there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (sock < 0 || bind(sock, (struct sockaddr*)&here, sizeof here) != 0) {
    fprintf(stderr, "facility: socket: %s\n", strerror(errno));
    return 1;
  }
  printf("ready\n");
  fflush(stdout);

  link_t link = {.kind = PACKET_COMMAND};
  packet_t command, answer = {.kind = PACKET_MEASUREMENT}, kept = {0};
  unsigned char bytes[PACKET_SIZE + 64], kept_bytes[PACKET_SIZE];
  int64_t sent = 0, lost = 0, late = 0, doubled = 0, corrupted = 0, foreign = 0, stops = 0;
  double origin = 0.0, most_force = 0.0;
  int have_kept = 0, over = 0;
  uint32_t first = 0;
  int64_t heard = now_ms();
  while (!over) {
    struct pollfd ready = {.fd = sock, .events = POLLIN};
    const int64_t left = heard + GONE_MS - now_ms(); /* noise on the line is no command */
    if (left <= 0 || poll(&ready, 1, (int)left) == 0) break;
    const ssize_t size = recv(sock, bytes, sizeof bytes, 0);
    if (size < 0 || link_take(&link, bytes, (size_t)size, &command) != LINK_NEW) continue;
    heard = now_ms();
    over = (command.flags & FLAG_END) != 0;
    stops += (command.flags & FLAG_STOP) != 0;
    if (first == 0) {
      first = command.sequence;
      origin = isnan(value[ORIGIN]) ? command.numbers[0] : value[ORIGIN];
    }
    line[command.sequence % LINE] = command;
    /* what is carried out: a command of `delay` periods ago, before the first one the pose of the touch */
    const uint32_t wanted = command.sequence - delay;
    const packet_t* carried = &line[wanted % LINE];
    double x[2] = {0.0, 0.0}, turn[2] = {0.0, 0.0}, rate[2] = {0.0, 0.0};
    if (command.sequence >= delay + first && carried->sequence == wanted) {
      const double* n = carried->numbers;
      x[0] = n[0] - origin;
      x[1] = n[7];
      const double length = sqrt(n[4] * n[4] + n[5] * n[5] + n[6] * n[6]);
      const double factor = length > 0.0 ? 2.0 * atan2(length, n[3]) / length : 2.0;
      turn[0] = factor * n[5];
      turn[1] = factor * n[6];
      rate[0] = n[11];
      rate[1] = n[12];
    }
    double force = value[STIFFNESS] * x[0] + value[DAMPING] * x[1];
    if (!held && (x[0] <= 0.0 || force < 0.0)) force = 0.0;
    const double slow = value[STIFFNESS] > 0.0 ? value[DAMPING] / value[STIFFNESS] : 0.0;
    memset(answer.numbers, 0, sizeof answer.numbers);
    answer.numbers[0] = -force;
    if (held || force > 0.0) {
      answer.numbers[4] = -value[TILT] * (turn[0] + slow * rate[0]);
      answer.numbers[5] = -value[TILT] * (turn[1] + slow * rate[1]);
    }
    if (force > most_force) most_force = force;
    answer.sequence = command.sequence;
    answer.answers = command.sequence;
    answer.flags = (force > 0.0 ? FLAG_CONTACT : 0u) | ((double)command.sequence == value[STOP_AT] ? FLAG_STOP : 0u);
    answer.time_ns = command.time_ns;
    if (value[SILENT] >= 0 && (double)command.sequence > value[SILENT]) continue;
    if ((double)command.sequence == value[NAN_AT]) answer.numbers[0] = NAN;
    packet_write(&answer, bytes);

    const double chance = over ? 1.0 : uniform(); /* the answer to the last command comes through */
    double below = value[LOSE];
    if (chance < below) {
      ++lost;
      continue;
    }
    if (chance < (below += value[LATER]) && !have_kept) { /* goes out after the next one */
      memcpy(kept_bytes, bytes, PACKET_SIZE);
      kept = answer;
      have_kept = 1;
      continue;
    }
    if (chance >= below && chance < (below += value[CORRUPT])) {
      bytes[(size_t)(uniform() * PACKET_SIZE)] ^= (unsigned char)(1u << (int)(uniform() * 8));
      ++corrupted;
    } else if (chance >= below && chance < (below += value[FOREIGN])) {
      packet_t other = answer;
      other.kind = 7;
      packet_write(&other, bytes);
      ++foreign;
    }
    size_t length = PACKET_SIZE;
    if (chance >= below && chance < (below += value[TWICE])) {
      (void)!sendto(sock, bytes, length, 0, (struct sockaddr*)&there, sizeof there);
      ++doubled;
    }
    if (sendto(sock, bytes, length, 0, (struct sockaddr*)&there, sizeof there) == (ssize_t)length) ++sent;
    if (have_kept && kept.sequence != answer.sequence) {
      (void)!sendto(sock, kept_bytes, PACKET_SIZE, 0, (struct sockaddr*)&there, sizeof there);
      have_kept = 0;
      ++late;
    }
  }
  printf(
      "{\"commands\": %lld, \"sent\": %lld, \"lost\": %lld, \"late\": %lld, \"duplicate\": %lld, \"corrupt\": %lld, "
      "\"foreign\": %lld, \"stops\": %lld, \"most_force\": %.9g}\n",
      (long long)link.accepted, (long long)sent, (long long)lost, (long long)late, (long long)doubled, (long long)corrupted,
      (long long)foreign, (long long)stops, most_force);
  close(sock);
  return 0;
}
