import Dunlin
import DunlinDisplay
import Glibc

/// The bar of a body that is sent, while no part of the answer is there: it is gone before the answer is printed.
actor UploadBar {
    private let bar: ProgressDisplay
    private let display: TerminalDisplay
    private var isOver = false

    /// Creates a bar; nil where nobody would see it.
    init?(_ name: String, on descriptor: Int32) {
        guard isatty(descriptor) == 1 else { return nil }
        display = TerminalDisplay(on: DescriptorOutput(descriptor))
        bar = ProgressDisplay(name, on: display)
    }

    func show(_ progress: HTTPSession.TransferProgress) {
        // The end of the request comes after the beginning of its answer.
        if !isOver, !progress.isFinal { bar.show(progress) }
    }

    func end() async {
        isOver = true
        bar.remove()
        await display.finish()
    }
}
