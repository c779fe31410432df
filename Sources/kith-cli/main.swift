import Glibc

exit(await KithCommand.run(Array(CommandLine.arguments.dropFirst())))
