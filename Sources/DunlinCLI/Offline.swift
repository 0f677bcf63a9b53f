import Dunlin
import DunlinCommandLine
import DunlinTransport
import DunlinTypes

/// A transport that sends nothing: it prints each request as its origin would get it.
///
/// What a session adds to a request is in it, and so is what frames the message; `CheckedExchange` makes both as for a
/// socket. Secret values are left out, of the head alone, unless they are asked for.
struct Offline: Transport {
    let showsSecrets: Bool
    let print: PrintOptions
    let output: Output

    func exchange(_ request: TransportRequest) async throws -> TransportResponse {
        let exchange = try await CheckedExchange(request)
        let head = exchange.sentHead
        for line in HeadText.lines(of: head, showingSecrets: showsSecrets) { output.print(line) }
        var printer = BodyPrinter(contentType: head.fields["Content-Type"], options: print, screen: output.screen)
        var problem: BinaryBody?
        try await exchange.sendBody { piece in
            if problem != nil { return }
            do throws(BinaryBody) { output.write(try printer.take(piece)) } catch { problem = error }
        }
        output.write(printer.end())
        if let problem { throw problem }
        return TransportResponse(
            head: ResponseHead(status: .noContent), hop: exchange.hop(after: 0, sentAt: exchange.now()))
    }
}
