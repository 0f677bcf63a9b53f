import Dunlin

/// The least program there is: one GET, after which the session rests until the input ends. How large it is, what it
/// holds and how soon it answers is what product Dunlin costs; `.ci/size` measures that.
@main
struct Hello {
    static func main() async throws {
        let session = try HTTPSession(baseURL: CommandLine.arguments[1])
        let response = try await session.get("hello", as: .string)
        print(response.value, terminator: "")
        while readLine() != nil {}
        await session.shutdown()
    }
}
