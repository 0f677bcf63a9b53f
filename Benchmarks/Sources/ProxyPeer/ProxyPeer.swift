import DunlinTesting
import Glibc

/// A proxy for clients to go through, which speaks HTTP and SOCKS5: prints its port, and ends with its standard input.
@main
struct ProxyPeer {
    static func main() throws {
        let proxy = try LoopbackProxy()
        print(proxy.port)
        fflush(nil)
        while readLine() != nil {}
        proxy.stop()
    }
}
