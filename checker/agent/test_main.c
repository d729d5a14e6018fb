/* The main of a harness that has none: one that registers tests with MC_TEST. */

int mc_run_tests_as_program(int argc, char** argv);

int mc_main_of_runtime(int argc, char** argv) { return mc_run_tests_as_program(argc, argv); }

__attribute__((weak, visibility("default"), alias("mc_main_of_runtime"))) int main(int argc,
                                                                                   char** argv);
