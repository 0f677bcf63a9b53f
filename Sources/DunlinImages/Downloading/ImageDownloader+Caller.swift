internal import Dunlin

/// What the code that asks for a picture is within.
///
/// Such code may be what downloads of this downloader wait for, or requests of its session. By the order of owners it
/// waits neither for a slot nor for a download of others: its picture is downloaded at once, and for it alone.
extension ImageDownloader {
    struct Caller: Sendable {
        /// What the download that it begins is within, too.
        let surroundings: Enclosure.Surroundings
        /// The downloads of this downloader that it is within.
        let within: Set<UInt64>
        /// Whether its request does not pass all code of the session's, which may say who asks: what it brings may be
        /// another user's.
        let isException: Bool
        var mayWait: Bool
    }

    /// The code that calls the downloader.
    var caller: Caller {
        var within: Set<UInt64> = []
        for case .picture(ObjectIdentifier(reference), let id) in Enclosure.subjects { within.insert(id) }
        return Caller(
            surroundings: Enclosure.surroundings, within: within, isException: session.runsOwnCode,
            mayWait: session.owner.ofDownloader.mayBeAwaited())
    }

    /// Whether a download is asked for within one of the same picture, that needs its result: its request has not
    /// ended, or the same filters are being applied. It would ask for itself again and again.
    func isWithinItself(_ download: Download) -> Bool {
        download.caller.within.contains { id in
            guard let outer = downloads[id], outer.shared.question == download.shared.question else { return false }
            guard let chain = outer.chain else { return true }
            return download.request.decodes && download.request.filters.name == chain
        }
    }
}
