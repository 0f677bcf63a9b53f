internal import Dunlin

/// What the code that asks for a picture is within.
///
/// Such code may be what downloads or other requests of the session wait for, in the queue or for a connection. So it
/// waits neither for a slot nor for a turn in the session's queue, nor for a download that waits for such code.
extension ImageDownloader {
    struct Asker: Sendable {
        /// What the download that it begins is within, too.
        let surroundings: Enclosure.Surroundings
        /// The enclosures for which the session makes exceptions.
        let enclosures: Set<Enclosure.Subject>
        var rules: DownloadMachine<SharedIdentity>.Asker

        /// Whether its request does not pass all code of the session's, which may say who asks: what it brings may be
        /// another user's.
        var isException: Bool {
            enclosures.contains { if case .request = $0 { false } else { true } }
        }
    }

    /// The code that calls the downloader.
    var asker: Asker {
        var within: Set<UInt64> = []
        let (own, enclosures) = (ObjectIdentifier(reference), session.awaitedEnclosures)
        var isWithinPicture = false
        for case .picture(let downloader, let id) in Enclosure.subjects {
            // Another downloader's slot may be what this one's wait for.
            isWithinPicture = true
            if downloader == own { within.insert(id) }
        }
        return Asker(
            surroundings: Enclosure.surroundings, enclosures: enclosures,
            rules: .init(within: within, waitsForSlot: !isWithinPicture && Enclosure.level() == 0))
    }

    /// Notes that the calling code waits for a download. Returns true if it must not, because the download cannot end
    /// before something that the code is within, perhaps a picture of another downloader.
    func isHeldUp(_ download: UInt64, by waiter: inout Waiting, _ asker: Asker) -> Bool {
        // A download that is joined by code that waits for no slot starts without one.
        if !asker.rules.waitsForSlot, machine.isQueued(download) { downloads[download]?.slot = nil }
        do throws(EnclosedWait.Circle) {
            waiter.wait = try EnclosedWait.begin(for: .picture(of: ObjectIdentifier(reference), download))
            return false
        } catch {
            queueUp(download)
            return true
        }
    }

    private var slots: Enclosure.Subject { .turns(of: ObjectIdentifier(reference)) }

    /// Notes that a download waits for a slot. Starts it without one if those who have one wait for it.
    func queueUp(_ id: UInt64) {
        guard machine.isQueued(id) else { return }
        do throws(EnclosedWait.Circle) {
            downloads[id]?.slot = try EnclosedWait.begin(
                for: slots, holdingUp: [.picture(of: ObjectIdentifier(reference), id)])
        } catch {
            perform(machine.startNow(id))
        }
    }

    /// Notes whether a download that starts has a slot.
    func noteSlot(of id: UInt64) {
        downloads[id]?.slot = nil
        guard machine.hasSlot(id) else { return }
        downloads[id]?.slot = EnclosedWait.turn(of: .picture(of: ObjectIdentifier(reference), id), at: slots)
    }

    /// Whether a download is asked for within one of the same picture, that needs its result: its request has not
    /// ended, or the same filters are being applied. It would ask for itself again and again.
    func isWithinItself(_ download: Download) -> Bool {
        download.asker.rules.within.contains { id in
            guard let outer = downloads[id], outer.identity == download.identity else { return false }
            guard let chain = outer.chain else { return true }
            return download.request.decodes && download.request.filters.name == chain
        }
    }
}
