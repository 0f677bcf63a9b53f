/// What `dunlin-image help` says.
enum Help {
    static let text = """
        dunlin-image: pictures on a terminal

        usage:
          dunlin-image [options] URL|FILE...
                            shows pictures: PNG, JPEG, WebP, GIF, BMP, ICO; - is standard
                            input. Where no picture can be shown, it says what it is
          dunlin-image help this text

        options:
          --as METHOD       kitty, sixel or blocks, whatever the terminal says, and also
                            into a file or a pipe; otherwise the terminal is asked
          --width N         as wide as N characters
          --height N        as high as N lines
          --info            what the header says: format, size, frames, orientation,
                            colours; nothing is decoded
          --frames          plays an animation, until its end or Control-C
          -o, --output FILE writes the picture there, as FILE ends: .png, .jpg or .jpeg;
                            nothing is shown
          --resize WxH      makes the picture this large first; Wx or xH keeps its shape
          --cache           stores what comes over the network in the user's folder of
                            caches, and takes it from there as HTTP allows
          --version         the version

        NO_COLOR and terminals that can only write text are respected: then the picture is
        said in words. Within tmux and screen pictures are made of blocks.

        exit codes:
          0   done
          1   a picture did not come, or could not be read, shown or written
          2   the arguments make no sense
          3   a server answered with a status other than 2xx
        """
}
