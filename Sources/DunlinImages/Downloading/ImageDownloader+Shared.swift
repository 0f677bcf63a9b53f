public import Dunlin
internal import FoundationEssentials

extension ImageDownloader {
    /// The downloader that all parts of a program share unless they are given another. It is created on first use, with
    /// its own session by `sessionConfiguration`. Throws if that session cannot be created.
    public static var shared: ImageDownloader {
        get throws { try made.get() }
    }

    /// Returns the session configuration of AFNetworking's downloader: cookies are kept, a server may be silent for 60
    /// seconds, and responses are stored, 20 MiB in memory and 150 MiB in the user's cache folder.
    public static func sessionConfiguration() -> HTTPSession.Configuration {
        let folder = cacheFolder(ProcessInfo.processInfo.environment, CommandLine.arguments.first ?? "")
        return sessionConfiguration(caching: HTTPSession.Cache(.images, folder: folder))
    }

    static func sessionConfiguration(caching cache: HTTPSession.Cache?) -> HTTPSession.Configuration {
        var configuration = HTTPSession.Configuration()
        configuration.cookies = CookieJar()
        configuration.timeouts.firstByte = .seconds(60)
        configuration.timeouts.readIdle = .seconds(60)
        configuration.cache = cache
        return configuration
    }

    private static let made = Result {
        ImageDownloader(session: try HTTPSession(sessionConfiguration()))
    }

    /// The folder `$XDG_CACHE_HOME/PROGRAM/imagedownloader`; nil if the environment names no place.
    static func cacheFolder(_ variables: [String: String], _ program: String) -> String? {
        let home = variables["HOME"].flatMap { $0.hasPrefix("/") ? $0 + "/.cache" : nil }
        let caches = variables["XDG_CACHE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home
        guard let caches, let name = program.split(separator: "/").last else { return nil }
        return "\(caches)/\(name)/imagedownloader"
    }
}
