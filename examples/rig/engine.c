/* Process A of the loopback rig: the engine. Steps a docking ring with the C library at a fixed period, sends the pose of
 * the ring as a command, takes the measured contact wrench as input.
 *
 *   engine ring.json --listen 9001 --send 9002 [--steps 1000] [--timeout 20] [--energy 5]
 *          [--lockstep] [--fifo] [--log run.csv]
 *
 * Input of a period is the newest measurement; what is lost, late, doubled or corrupted is counted and never used. Without
 * a new measurement the last one is held. After --timeout periods without one, after a contact has returned --energy joules
 * more than it took, after a step that could not be made, or on a signal the rig stops safely: the command stays where it is
 * with zero twist and the flag STOP, for 20 periods.
 * --lockstep waits for the answer to each command instead of the clock: for tests, not for hardware.
 * The loop allocates nothing and writes no file; the log is a ring buffer that is written after it.
 *
 * Exit code: 0 ran to the end, 3 stopped safely, 2 bad arguments, 1 could not begin or write its log. The last line of
 * stdout is JSON.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zveno.h>

#include "link.h"

enum { LOG_SIZE = 1 << 14, IN_SIZE = 64, OUT_SIZE = 128, STOP_PERIODS = 20, MOST_PACKETS = 64, ANSWER_MS = 200 };

typedef struct {
  int64_t step;
  int32_t code, held;
  double position[3], wrench[6], energy;
  int64_t step_ns, late_ns;
} record_t;

static record_t ring_log[LOG_SIZE]; /* the last LOG_SIZE periods */
static volatile sig_atomic_t interrupted;

static void on_signal(int number) {
  (void)number;
  interrupted = 1;
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void sleep_until(int64_t ns) {
  struct timespec t = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR && !interrupted) {
  }
}

static int fail(const char* what, const char* why) {
  fprintf(stderr, "engine: %s: %s\n", what, why);
  return 1;
}

static long number(const char* option, const char* text, long least, long most, int* bad) {
  char* end;
  const long value = strtol(text, &end, 10);
  if (*text == '\0' || *end != '\0' || value < least || value > most) {
    fprintf(stderr, "engine: %s is '%s', expected a whole number from %ld to %ld\n", option, text, least, most);
    *bad = 1;
  }
  return value;
}

int main(int argc, char** argv) {
  const char *path = NULL, *log_path = NULL;
  long listen_port = 9001, send_port = 9002, steps = 1000, timeout = 20;
  double most_energy = 5.0;
  int lockstep = 0, fifo = 0, bad = 0;
  for (int i = 1; i < argc && !bad; ++i) {
    const int more = i + 1 < argc;
    if (strcmp(argv[i], "--lockstep") == 0)
      lockstep = 1;
    else if (strcmp(argv[i], "--fifo") == 0)
      fifo = 1;
    else if (strcmp(argv[i], "--listen") == 0 && more)
      listen_port = number("--listen", argv[++i], 1, 65535, &bad);
    else if (strcmp(argv[i], "--send") == 0 && more)
      send_port = number("--send", argv[++i], 1, 65535, &bad);
    else if (strcmp(argv[i], "--steps") == 0 && more)
      steps = number("--steps", argv[++i], 1, 2000000000, &bad);
    else if (strcmp(argv[i], "--timeout") == 0 && more)
      timeout = number("--timeout", argv[++i], 1, 1000000, &bad);
    else if (strcmp(argv[i], "--energy") == 0 && more) {
      char* end;
      most_energy = strtod(argv[++i], &end);
      if (*end != '\0' || end == argv[i] || !(most_energy > 0.0)) {
        fprintf(stderr, "engine: --energy is '%s', expected a number > 0\n", argv[i]);
        bad = 1;
      }
    } else if (strcmp(argv[i], "--log") == 0 && more)
      log_path = argv[++i];
    else if (argv[i][0] != '-' && path == NULL)
      path = argv[i];
    else {
      fprintf(stderr, "engine: what is '%s'?%s\n", argv[i], more || argv[i][0] != '-' ? "" : " Or its value is missing.");
      bad = 1;
    }
  }
  if (bad || path == NULL) {
    fprintf(stderr,
            "engine ring.json [--listen P] [--send P] [--steps N] [--timeout N] [--energy J] [--lockstep] [--fifo]"
            " [--log F]\n");
    return 2;
  }

  /* ---- everything that allocates, opens or may fail for long */
  char message[400];
  int code = 0;
  zv_rig* rig = zv_rig_open(path, NULL, &code, message, sizeof message);
  if (rig == NULL) return fail(path, message);
  zv_info info = {.struct_size = sizeof info};
  zv_rig_info(rig, &info);
  int32_t position = -1, quaternion = -1, twist = -1, wrench = -1;
  for (int32_t i = 0; i < info.outputs; ++i) {
    zv_channel channel = {.struct_size = sizeof channel};
    zv_rig_output(rig, i, &channel);
    if (strcmp(channel.name, "ring.position") == 0) position = channel.offset;
    if (strcmp(channel.name, "ring.quaternion") == 0) quaternion = channel.offset;
    if (strcmp(channel.name, "ring.twist") == 0) twist = channel.offset;
  }
  for (int32_t i = 0; i < info.inputs; ++i) {
    zv_channel channel = {.struct_size = sizeof channel};
    zv_rig_input(rig, i, &channel);
    if (strcmp(channel.name, "wrench") == 0) wrench = channel.offset;
  }
  if (position < 0 || quaternion < 0 || twist < 0 || wrench < 0) return fail(path, "not a docking ring");
  if (info.input_size > IN_SIZE || info.output_size > OUT_SIZE) return fail(path, "more channels than this program has");

  const int sock = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  struct sockaddr_in here = {.sin_family = AF_INET, .sin_port = htons((uint16_t)listen_port)};
  struct sockaddr_in there = {.sin_family = AF_INET, .sin_port = htons((uint16_t)send_port)};
  here.sin_addr.s_addr = there.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (sock < 0 || bind(sock, (struct sockaddr*)&here, sizeof here) != 0) return fail("socket", strerror(errno));
  FILE* log_file = log_path != NULL ? fopen(log_path, "w") : NULL;
  if (log_path != NULL && log_file == NULL) return fail(log_path, strerror(errno));
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  if (fifo) {
    const struct sched_param parameter = {.sched_priority = 80};
    if (sched_setscheduler(0, SCHED_FIFO, &parameter) != 0) fprintf(stderr, "engine: SCHED_FIFO: %s\n", strerror(errno));
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) fprintf(stderr, "engine: mlockall: %s\n", strerror(errno));
  }
  memset(ring_log, 0, sizeof ring_log); /* touch its pages */
  zv_rig_prepare(rig);

  double in[IN_SIZE] = {0}, out[OUT_SIZE] = {0};
  zv_rig_outputs(rig, out); /* the start: what is commanded if the rig stops before its first step */
  unsigned char bytes[PACKET_SIZE + 64];
  link_t link = {.kind = PACKET_MEASUREMENT};
  packet_t command = {.kind = PACKET_COMMAND}, measured;
  const int64_t period = (int64_t)(1e9 * info.period + 0.5);
  int64_t held = 0, longest_hold = 0, in_row = 0, overruns = 0, worst_step = 0, worst_late = 0, refused = 0, unsent = 0;
  double energy = 0.0, least_energy = 0.0;
  const char* why = NULL;
  int64_t k = 0, stopping = 0, due = now_ns() + period;

  /* ---- the loop: no allocation, no file */
  for (; k < steps && stopping < STOP_PERIODS; ++k, due += period) {
    int64_t late = 0;
    if (!lockstep) {
      sleep_until(due);
      late = now_ns() - due;
      if (late > period) { /* missed: go on from here, no burst follows */
        ++overruns;
        due = now_ns();
      }
      if (late > worst_late) worst_late = late;
    } else if (k > 0 && why == NULL) { /* wait for the answer to the last command, or give up */
      struct pollfd ready = {.fd = sock, .events = POLLIN};
      if (poll(&ready, 1, ANSWER_MS) < 0 && errno != EINTR) why = "poll";
    }
    int fresh = 0;
    for (int i = 0; i < MOST_PACKETS; ++i) {
      const ssize_t size = recv(sock, bytes, sizeof bytes, 0);
      if (size < 0) break;
      if (link_take(&link, bytes, (size_t)size, &measured) != LINK_NEW) continue;
      fresh = 1;
      memcpy(in + wrench, measured.numbers, 6 * sizeof(double));
      if ((measured.flags & FLAG_STOP) != 0 && why == NULL) why = "facility asked to stop";
    }
    if (k > 0 && !fresh) {
      ++held;
      if (++in_row > longest_hold) longest_hold = in_row;
      if (in_row >= timeout && why == NULL) why = "no measurement";
    } else {
      in_row = 0;
    }
    if (interrupted && why == NULL) why = "interrupted";

    const int64_t before = now_ns();
    if (why == NULL) {
      code = zv_rig_step(rig, in, out);
      if (code == ZV_INPUT_HELD) ++refused;
      if (code < 0) why = zv_strerror(code);
    }
    const int64_t took = now_ns() - before;
    if (took > worst_step) worst_step = took;
    if (why != NULL) { /* safe stop: where it is, at rest */
      ++stopping;
      command.flags |= FLAG_STOP;
      memset(out + twist, 0, 6 * sizeof(double));
    }
    for (int i = 0; i < 6; ++i) energy -= in[wrench + i] * out[twist + i] * info.period; /* taken by the contact */
    if (energy < least_energy) least_energy = energy;
    if (energy < -most_energy && why == NULL) why = "the contact gives energy";

    command.sequence = (uint32_t)(k + 1);
    command.time_ns = (uint64_t)now_ns();
    if (k + 1 == steps || stopping == STOP_PERIODS) command.flags |= FLAG_END;
    memcpy(command.numbers, out + position, 3 * sizeof(double));
    memcpy(command.numbers + 3, out + quaternion, 4 * sizeof(double));
    memcpy(command.numbers + 7, out + twist, 6 * sizeof(double));
    packet_write(&command, bytes);
    if (sendto(sock, bytes, PACKET_SIZE, 0, (struct sockaddr*)&there, sizeof there) != PACKET_SIZE) ++unsent;

    record_t* record = &ring_log[k & (LOG_SIZE - 1)];
    record->step = k;
    record->code = code;
    record->held = !fresh;
    memcpy(record->position, out + position, sizeof record->position);
    memcpy(record->wrench, in + wrench, sizeof record->wrench);
    record->energy = energy;
    record->step_ns = took;
    record->late_ns = late;
  }

  /* ---- afterwards: what is still under way is counted too, unless it never ends */
  const int64_t patience = now_ns() + 1000000000;
  for (struct pollfd ready = {.fd = sock, .events = POLLIN};
       now_ns() < patience && poll(&ready, 1, link.newest < (uint32_t)k ? ANSWER_MS : 20) > 0;) {
    const ssize_t size = recv(sock, bytes, sizeof bytes, 0);
    if (size >= 0) link_take(&link, bytes, (size_t)size, &measured);
  }
  int unwritten = 0;
  if (log_file != NULL) {
    fprintf(log_file, "step,code,held,x,y,z,fx,fy,fz,mx,my,mz,energy,step_ns,late_ns\n");
    for (int64_t i = k > LOG_SIZE ? k - LOG_SIZE : 0; i < k; ++i) {
      const record_t* r = &ring_log[i & (LOG_SIZE - 1)];
      fprintf(log_file, "%lld,%d,%d", (long long)r->step, r->code, r->held);
      for (int j = 0; j < 3; ++j) fprintf(log_file, ",%.17g", r->position[j]);
      for (int j = 0; j < 6; ++j) fprintf(log_file, ",%.17g", r->wrench[j]);
      fprintf(log_file, ",%.17g,%lld,%lld\n", r->energy, (long long)r->step_ns, (long long)r->late_ns);
    }
    const int failed = ferror(log_file);
    unwritten = fclose(log_file) != 0 || failed;
    if (unwritten) fail(log_path, "the log could not be written");
  }
  printf(
      "{\"steps\": %lld, \"stopped\": \"%s\", \"accepted\": %lld, \"lost\": %lld, \"late\": %lld, \"duplicate\": %lld, "
      "\"corrupt\": %lld, \"foreign\": %lld, \"held\": %lld, \"longest_hold\": %lld, \"refused\": %lld, \"unsent\": %lld, "
      "\"overruns\": %lld, \"worst_step_us\": %.3f, \"worst_late_us\": %.3f, \"energy\": %.9g, \"least_energy\": %.9g}\n",
      (long long)k, why != NULL ? why : "", (long long)link.accepted, (long long)link.lost, (long long)link.late,
      (long long)link.duplicate, (long long)link.corrupt, (long long)link.foreign, (long long)held, (long long)longest_hold,
      (long long)refused, (long long)unsent, (long long)overruns, 1e-3 * (double)worst_step, 1e-3 * (double)worst_late,
      energy, least_energy);
  close(sock);
  zv_rig_free(rig);
  return why != NULL ? 3 : unwritten;
}
