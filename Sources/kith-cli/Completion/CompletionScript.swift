/// The scripts that complete words: each asks `kith completion words`, so that they never differ from the program.
enum CompletionScript {
    static let shells = ["bash", "zsh", "fish"]

    static func lines(_ shell: String) -> [String]? {
        switch shell {
        case "bash": text(bash)
        case "zsh": text(zsh)
        case "fish": text(fish)
        default: nil
        }
    }

    private static func text(_ script: String) -> [String] {
        script.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    // The words are taken from the line itself, as bash would split them at = and : too; of the answer only what stands
    // after the last of these is wanted.
    private static let bash = #"""
        # bash completion of kith
        _kith() {
            local line=${COMP_LINE:0:COMP_POINT} current word description
            local -a words
            read -r -a words <<<"$line"
            [[ $line == *[[:space:]] ]] && words+=("")
            current=${words[${#words[@]} - 1]}
            local rest=${current##*[=:]}
            local before=${current%"$rest"}
            COMPREPLY=()
            while IFS=$'\t' read -r word description; do
                case $word in
                :files)
                    compopt -o filenames
                    mapfile -t COMPREPLY < <(compgen -f -- "$rest")
                    ;;
                :directories)
                    compopt -o filenames
                    mapfile -t COMPREPLY < <(compgen -d -- "$rest")
                    ;;
                *)
                    [[ $word == *= ]] && compopt -o nospace
                    COMPREPLY+=("${word#"$before"}")
                    ;;
                esac
            done < <(kith completion words -- "${words[@]:1}" 2>/dev/null)
        }
        complete -F _kith kith
        """#

    private static let zsh = #"""
        #compdef kith
        # zsh completion of kith
        _kith() {
            local line word
            local -a found
            for line in "${(@f)$(kith completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
                word=${line%%$'\t'*}
                case $word in
                    ('') ;;
                    (:files) _files ;;
                    (:directories) _files -/ ;;
                    (*) found+=("${word//:/\\:}:${line#*$'\t'}") ;;
                esac
            done
            (( $#found )) && _describe -t words 'word' found
        }
        if [[ ${funcstack[1]} == _kith ]]; then
            _kith "$@"
        else
            compdef _kith kith
        fi
        """#

    private static let fish = #"""
        # fish completion of kith
        function __kith_words
            set -l before (commandline -opc)
            set -l current (commandline -ct)
            for line in (kith completion words -- $before[2..] "$current" 2>/dev/null)
                switch $line
                    case ':files*'
                        __fish_complete_path "$current"
                    case ':directories*'
                        __fish_complete_directories "$current"
                    case '*'
                        echo $line
                end
            end
        end
        complete -c kith -f -a '(__kith_words)'
        """#
}
