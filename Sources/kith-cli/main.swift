import Glibc

// The standard library mends what is not UTF-8, and a mended id would be another document's.
for index in 1..<max(1, Int(CommandLine.argc)) {
    guard let argument = CommandLine.unsafeArgv[index] else { continue }
    if String(validatingCString: argument) == nil {
        Messages.line("kith: argument \(index) is not valid UTF-8; give such bytes escaped, as JSON or a URL has them")
        exit(ExitStatus.usage)
    }
}
exit(await KithCommand.run(Array(CommandLine.arguments.dropFirst())))
