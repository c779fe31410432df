import Glibc
import KithSimulation

exit(SimulatorCommand.run(Array(CommandLine.arguments.dropFirst())))
