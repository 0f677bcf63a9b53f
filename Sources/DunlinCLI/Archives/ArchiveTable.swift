import Dunlin
import DunlinCommandLine
import DunlinDisplay
import DunlinRecording
import DunlinTypes

/// The entries of an archive as lines: number, method, status, type, size, time and URL, and a bar for the time.
struct ArchiveTable {
    private let entries: [HAR.Entry]
    /// How wide a line may be; nil for any width, and no bars.
    private let columns: Int?
    private let style: DisplayStyle

    /// The widest method and type, the least room for a URL, and the least for a URL and a bar.
    private static let (longestMethod, longestType, leastURL, leastForBar) = (8, 16, 12, 28)

    init(_ entries: [HAR.Entry], columns: Int?, style: DisplayStyle) {
        (self.entries, self.columns) = (entries, columns)
        self.style = DisplayStyle(hasColour: false, hasUnicode: style.hasUnicode)
    }

    var lines: [[StyledText]] {
        let table: [[Cell]] = entries.enumerated().map { cells(of: $1, number: $0 + 1) }
        let widths = (table.first ?? []).indices.map { column in
            table.reduce(0) { max($0, DisplayWidth.of($1[column].text)) }
        }
        let room = columns.map { max(Self.leastURL, $0 - 1 - widths.reduce(0, +) - widths.count) }
        let bar = room.map { $0 < Self.leastForBar ? 0 : $0 / 3 } ?? 0
        let bars = bar == 0 ? [] : Waterfall(ArchiveTimes(entries).hops).bars(columns: bar, style: style)
        return zip(entries, table).enumerated().map { index, row in
            var line = zip(row.1, widths).map { cell, width in
                StyledText(DisplayWidth.padded(cell.text, to: width, atStart: cell.isNumber) + " ", cell.style)
            }
            let url = VisibleText.of(row.0.request.url)
            guard let room else { return line + [StyledText(url)] }
            let width = room - (bar == 0 ? 0 : bar + 1)
            let shown = DisplayWidth.abridged(url, to: width, style.hasUnicode ? "…" : "..")
            line.append(StyledText(bars.isEmpty ? shown : DisplayWidth.padded(shown, to: width) + " "))
            return bars.isEmpty ? line : line + [StyledText(bars[index], .word)]
        }
    }

    private typealias Cell = (text: String, isNumber: Bool, style: TextStyle)

    private func cells(of entry: HAR.Entry, number: Int) -> [Cell] {
        let status = entry.response.status
        let size = entry.response.content.size ?? entry.response.bodySize ?? -1
        return [
            ("\(number)", true, .plain),
            (cut(entry.request.method, Self.longestMethod), false, .plain),
            (status == 0 ? "-" : cut("\(status)", 3), true, status == 0 ? .failure : HeadText.style(of: status)),
            (cut(Self.type(of: entry.response), Self.longestType), false, .plain),
            (size < 0 ? "-" : size.readableBytes, true, .plain),
            (entry.time < 0 ? "-" : Duration.nanoseconds(ArchiveTimes.nanoseconds(entry.time)).readable, true, .plain),
        ]
    }

    private func cut(_ text: String, _ width: Int) -> String {
        DisplayWidth.abridged(VisibleText.of(text), to: width, style.hasUnicode ? "…" : "..")
    }

    /// The second part of the media type, or why there was no response.
    private static func type(of response: HAR.Response) -> String {
        if response.status == 0 { return response.error ?? "-" }
        let type = (response.content.mimeType ?? "").prefix { $0 != ";" && $0 != " " }
        return type.split(separator: "/").last.map(String.init) ?? "-"
    }
}
