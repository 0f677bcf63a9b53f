import Glibc

@main
struct DunlinImageCommand {
    static func main() async { exit(0) }
}
