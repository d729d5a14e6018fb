/* The main of a harness that has none: one that registers tests with MC_TEST. An archive of its
   own, linked last, so that any other main (the program's, GoogleTest's) comes first. */

int mc_run_registered_tests(int argc, char** argv);
void mc_main_is_generated(void);

__attribute__((constructor)) static void Announce(void) { mc_main_is_generated(); }

int main(int argc, char** argv) { return mc_run_registered_tests(argc, argv); }
