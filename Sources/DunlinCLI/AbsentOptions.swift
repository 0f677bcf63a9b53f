import DunlinCommandLine

extension CommandTable {
    /// Options of curl that are not there, each with the reason.
    static let absent: [AbsentOption] = versions + otherProtocols + replaced + fields + transfers

    private static let versions = [
        AbsentOption("http1.0", letter: "0", because: "the command speaks HTTP/1.1 only"),
        AbsentOption("http2", "http2-prior-knowledge", because: "the command speaks HTTP/1.1 only"),
        AbsentOption("http3", "http3-only", because: "the command speaks HTTP/1.1 only"),
        AbsentOption("http0.9", because: "answers without a head are never accepted"),
        AbsentOption(
            "tlsv1", "tlsv1.0", "tlsv1.1", letter: "1", because: "versions of TLS before 1.2 are not secure"),
        AbsentOption("sslv2", letter: "2", because: "SSL is not secure; TLS 1.2 and 1.3 are spoken"),
        AbsentOption("sslv3", letter: "3", because: "SSL is not secure; TLS 1.2 and 1.3 are spoken"),
    ]

    private static let otherProtocols = [
        AbsentOption("append", letter: "a", because: "it is for FTP, and only http and https are spoken"),
        AbsentOption("use-ascii", letter: "B", because: "it is for FTP, and only http and https are spoken"),
        AbsentOption("list-only", letter: "l", because: "it is for FTP, and only http and https are spoken"),
        AbsentOption("ftp-port", letter: "P", because: "it is for FTP, and only http and https are spoken"),
        AbsentOption("quote", letter: "Q", because: "it is for FTP, and only http and https are spoken"),
        AbsentOption("telnet-option", letter: "t", because: "only http and https are spoken"),
        AbsentOption("mail-from", "mail-rcpt", because: "only http and https are spoken"),
    ]

    private static let replaced = [
        AbsentOption("config", letter: "K", because: "options are given in the arguments only, not in a file"),
        AbsentOption("disable", letter: "q", because: "no file of settings is ever read"),
        AbsentOption("globoff", letter: "g", because: "a URL is sent as it is; brackets and braces mean nothing"),
        AbsentOption("parallel-max", letter: "Z", because: "many files at once are dunlin download --parallel N"),
        AbsentOption("next", letter: ":", because: "one URL is requested at a time; dunlin download takes many"),
        AbsentOption("netrc-optional", because: "--netrc does it: a host without an entry gets nothing"),
        AbsentOption("negotiate", "ntlm", because: "only Basic, Digest and tokens are spoken; use --user or --bearer"),
        AbsentOption("basic", "anyauth", because: "--user answers what the server asks for, Digest before Basic"),
        AbsentOption("oauth2-bearer", because: "it is called --bearer here"),
        AbsentOption("manual", letter: "M", because: "it is called dunlin help man here"),
        AbsentOption("progress-bar", letter: "#", because: "a bar is shown with -o on every terminal"),
        AbsentOption("proxytunnel", letter: "p", because: "https goes through a tunnel, and http never does"),
        AbsentOption("proxy-user", letter: "U", because: "it stands in the proxy's URL: -x http://NAME:PASSWORD@HOST"),
        AbsentOption("location-trusted", because: "no other origin gets the password after a redirect"),
        AbsentOption("trace-ascii", "trace-time", because: "--trace prints heads, sizes and times"),
    ]

    private static let fields = [
        AbsentOption("range", letter: "r", because: "it is a field: -H \"Range: bytes=0-99\""),
        AbsentOption("time-cond", letter: "z", because: "it is a field: -H \"If-Modified-Since: DATE\""),
        AbsentOption("tr-encoding", because: "answers are compressed by content codings, which are asked for"),
    ]

    private static let transfers = [
        AbsentOption(
            "dump-header", letter: "D", because: "-i prints the head before the body, and -v on standard error"),
        AbsentOption("remote-header-name", letter: "J", because: "dunlin download takes the server's name"),
        AbsentOption("remote-time", letter: "R", because: "a file has the time of its download"),
        AbsentOption("create-dirs", because: "folders are not created; use mkdir -p"),
        AbsentOption("fail-with-body", because: "the body is printed without it, and the exit code is 3"),
        AbsentOption("speed-limit", letter: "Y", because: "no rate is too low; -m limits the time"),
        AbsentOption("speed-time", letter: "y", because: "no rate is too low; -m limits the time"),
        AbsentOption("ipv4", letter: "4", because: "both families are tried; --resolve chooses an address"),
        AbsentOption("ipv6", letter: "6", because: "both families are tried; --resolve chooses an address"),
        AbsentOption("interface", because: "the system chooses the interface"),
        AbsentOption("cert-type", "key-type", because: "certificates and keys are PEM"),
        AbsentOption("capath", because: "authorities are in files; give --cacert FILE several times"),
        AbsentOption("stderr", because: "the shell does that: 2>FILE"),
    ]
}
