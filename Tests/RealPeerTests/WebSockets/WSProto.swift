import Dunlin
import DunlinTesting
import Folders
import Foundation
import Testing

/// A server by wsproto, which shares no code with websockets, and reads and writes plain or TLS sockets by itself.
///
/// The path says what it does: `/echo` sends back each piece that it reads as a fragment, `/deflate` the same with
/// compression, `/close` says close, `/no` refuses.
final class WSProto {
    private let daemon: Daemon

    /// nil where Debian's Python or its wsproto is not installed.
    static let program: String? = {
        let files = FileManager.default
        let isThere = files.fileExists(atPath: "/usr/lib/python3/dist-packages/wsproto")
        return isThere ? Daemon.program("/usr/bin/python3") : nil
    }()

    /// Runs a test with a session that believes the server.
    static func with(isSecure: Bool, _ play: (HTTPSession) async throws -> Void) async throws {
        let authority = try CertificateAuthority()
        let issued = isSecure ? try authority.issue(.server("127.0.0.1")) : nil
        let server = try await WSProto(issued)
        defer { server.daemon.end() }
        let baseURL = "\(isSecure ? "https" : "http")://127.0.0.1:\(server.daemon.port)"
        try await SecureSession.with(authority, at: baseURL, { _ in }, play)
    }

    private init(_ issued: IssuedCertificate?) async throws {
        let folder = try Folder()
        var files = ["server.py": Self.script]
        if let issued {
            files["chain.pem"] = issued.chainPEM
            files["key.pem"] = try issued.privateKeyPEM
        }
        for (name, text) in files {
            try text.write(toFile: "\(folder.path)/\(name)", atomically: true, encoding: .utf8)
        }
        daemon = try await Daemon(Self.program, in: folder) {
            ["\(folder.path)/server.py", "\($0[0])"] + (issued == nil ? [] : ["tls"])
        }
    }

    private static let script = """
        import socket, ssl, sys, threading
        from wsproto import ConnectionType, WSConnection
        from wsproto.connection import ConnectionState
        from wsproto.events import (
            AcceptConnection, CloseConnection, Message, Ping, RejectConnection, RejectData, Request)
        from wsproto.extensions import PerMessageDeflate

        def opening(request):
            if request.target == "/no":
                length = [(b"content-length", b"4")]
                return [RejectConnection(status_code=403, headers=length, has_body=True), RejectData(b"gone")]
            deflate = [PerMessageDeflate()] if request.target == "/deflate" else []
            chosen = "b" if "b" in request.subprotocols else None
            accept = AcceptConnection(subprotocol=chosen, extensions=deflate)
            return [accept] + ([CloseConnection(4001, "go away")] if request.target == "/close" else [])

        def answers(link, event):
            if isinstance(event, Request):
                return opening(event)
            if isinstance(event, Message):
                return [type(event)(data=event.data, message_finished=event.message_finished)]
            if isinstance(event, Ping):
                return [event.response()]
            if isinstance(event, CloseConnection) and link.state is ConnectionState.REMOTE_CLOSING:
                return [event.response()]
            return []

        def serve(stream):
            if context:
                stream = context.wrap_socket(stream, server_side=True)
            link = WSConnection(ConnectionType.SERVER)
            ended = (ConnectionState.CLOSED, ConnectionState.REJECTING)
            while link.state not in ended:
                link.receive_data(stream.recv(65536) or None)
                for event in link.events():
                    for answer in answers(link, event):
                        stream.sendall(link.send(answer))
            stream.close()

        context = None
        if sys.argv[2:] == ["tls"]:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain("chain.pem", "key.pem")
        listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
        while True:
            stream, _ = listener.accept()
            threading.Thread(target=serve, args=(stream,), daemon=True).start()
        """
}

extension Trait where Self == ConditionTrait {
    /// Skipped, loudly, where there is no wsproto.
    static var needsWSProto: Self {
        .enabled("python3-wsproto is not installed: run .ci/install test") { WSProto.program != nil }
    }
}
