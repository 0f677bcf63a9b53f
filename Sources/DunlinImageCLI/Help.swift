/// The text of `dunlin-image help`.
enum Help {
    static let text = """
        dunlin-image: pictures on a terminal

        usage:
          dunlin-image [options] URL|FILE...
                            shows pictures: PNG, JPEG, WebP, GIF, BMP, ICO; - is standard
                            input. A picture that cannot be shown is described in words
          dunlin-image help this text

        options:
          --as METHOD       draws by kitty, sixel or blocks, even into a file or a
                            pipe; without it, by what the terminal supports
          --width N         as wide as N characters
          --height N        as high as N lines
          --info            prints what the header says: format, size, frames, orientation,
                            colours; nothing is decoded
          --frames          plays an animation, until its end or Control-C
          -o, --output FILE writes the picture to FILE, whose name ends in .png, .jpg
                            or .jpeg, and shows nothing
          --resize WxH      scales the picture first; Wx or xH keeps its proportions
          --cache           stores downloads in the user's cache folder, and takes
                            them from there as HTTP allows
          --version         the version

        With NO_COLOR, and on terminals that can only write text, the picture is described
        in words. Within tmux and screen pictures are made of blocks.

        exit codes:
          0   done
          1   a picture could not be loaded, read, shown or written
          2   the arguments are not valid
          3   a server answered with a status other than 2xx
        """
}
