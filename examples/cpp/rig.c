/* A rig in C: reads a mechanism that Python has written (zveno.save_rig), steps it for a second, goes back to a snapshot
 * in the middle and makes the second half again.
 *
 *   rig ring.json
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zveno.h>

int main(int argc, char **argv) {
  char message[200];
  int code, k;
  zv_info info;
  zv_rig *rig;
  double *in, *out, *state;
  if (argc != 2) return 2;
  rig = zv_rig_open(argv[1], NULL, &code, message, sizeof message);
  if (!rig) {
    fprintf(stderr, "%s: %s\n", argv[1], message);
    return 1;
  }
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  zv_rig_info(rig, &info);
  in = calloc((size_t)info.input_size, sizeof *in); /* everything that the loop needs is here before it begins */
  out = calloc((size_t)info.output_size, sizeof *out);
  state = calloc((size_t)info.state_size, sizeof *state);
  for (k = 0; k < 1000; ++k) {
    in[0] = k < 100 ? -50.0 : 0.0; /* a push */
    code = zv_rig_step(rig, in, out);
    if (code < 0) break;
    if (k == 499) zv_rig_get_state(rig, state);
  }
  printf("position %.17g %.17g %.17g\n", out[0], out[1], out[2]);
  zv_rig_set_state(rig, state);
  for (k = 500; k < 1000; ++k) code = zv_rig_step(rig, in, out);
  printf("again %.17g %.17g %.17g\n", out[0], out[1], out[2]);
  printf("code %d\n", code);
  zv_rig_free(rig);
  free(in), free(out), free(state);
  return code != ZV_OK;
}
