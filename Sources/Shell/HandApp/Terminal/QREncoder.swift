internal import CQREncode
import HandScreens

/// Makes QR codes, with libqrencode.
package enum QREncoder {
    /// Returns the code of a text; nil if the text is too long for one, or empty.
    package static func code(for text: String) -> QRCode? {
        guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_L) else { return nil }
        defer { QRcode_free(code) }
        let side = Int(code.pointee.width)
        // The lowest bit of a module says whether it is dark; the others say what it is for.
        let modules = UnsafeBufferPointer(start: code.pointee.data, count: side * side).map { $0 & 1 == 1 }
        return QRCode(side: side, modules: modules)
    }
}
