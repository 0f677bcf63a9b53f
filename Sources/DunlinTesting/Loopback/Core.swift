internal import DunlinReactor
internal import Glibc
internal import Synchronization

extension LoopbackServer {
    /// What the threads share. They retain this and not the server, so that releasing the server stops them.
    final class Core: Sendable {
        let configuration: Configuration
        let script = Script()
        let ledger: Ledger
        let threads: ThreadGroup
        /// The connection that fills the backlog, if connects must not complete.
        private let filler = Mutex<Descriptor?>(nil)

        /// The TLS settings for new connections.
        private let tls: Mutex<TLS?>

        init(_ configuration: Configuration, _ tls: TLS?) throws(Errno) {
            self.tls = Mutex(tls)
            self.configuration = configuration
            ledger = Ledger(recordsRequests: configuration.recordsRequests)
            threads = try ThreadGroup()
        }

        /// Fills the backlog, so that the kernel drops further connection requests.
        func fill(_ listener: borrowing Listener) throws(Errno) {
            script.onConnect { _ in .neverAccept }
            var connection: Descriptor? = try listener.connectToIt()
            filler.withLock { $0 = connection.take() }
        }

        func stop() {
            threads.stop()
            filler.withLock { $0 = nil }
            script.clear()
        }

        /// A description for a wait that failed: what it waited for, and what came instead.
        func describe(_ what: String) -> @Sendable () -> String {
            { [ledger] in "\(what) (there was \(ledger.activity))" }
        }

        /// Runs on the acceptor's thread.
        func accept(from listener: Int32, _ lifeline: Int32, isTCP: Bool) {
            guard let socket = adopt(listener) else { return }
            let acceptor = Acceptor(listener: socket, lifeline: lifeline, isTCP: isTCP, core: self)
            acceptor.run()
        }

        func present(_ tls: TLS) { self.tls.withLock { $0 = tls } }

        /// Runs on the connection's thread; the socket is closed on return.
        func serve(_ socket: Int32, _ index: Int, _ lifeline: Int32, isTCP: Bool, _ arrival: Arrival) {
            guard let socket = adopt(socket) else { return }
            var channel = Channel(socket: socket, poll: Poll(lifeline: lifeline), ledger: ledger, isTCP: isTCP)
            do throws(Interruption) {
                let handshake = try channel.beginServing(arrival, tls.withLock(\.self), index)
                if let handshake { ledger.secured(handshake) }
                var connection = Connection(index, channel, script, configuration, handshake)
                connection.converse()
            } catch .insecure(let detail) {
                ledger.failed(Failure(connection: index, kind: .tls, detail: detail))
            } catch {
                return
            }
        }

        private func adopt(_ number: Int32) -> Descriptor? {
            do throws(Errno) { return try Descriptor(adopting: number) } catch { return nil }
        }
    }
}
