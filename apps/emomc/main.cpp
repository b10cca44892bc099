#include "commands.hpp"

int main(int argc, char** argv) { return emomc::app::run_program(argc, argv); }
