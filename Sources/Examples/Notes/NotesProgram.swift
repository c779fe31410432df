import Foundation
import Kith

/// The program without its terminal: takes events one after the other, does what the screen wants, and shows a frame after each.
public struct NotesProgram: Sendable {
    private let home: Home
    private let store: NoteStore
    private let events: AsyncStream<ScreenEvent>
    private let tell: AsyncStream<ScreenEvent>.Continuation

    /// - Parameters:
    ///   - home: where the notes are.
    ///   - events: keys, signals, and what this program tells itself by `tell`.
    ///   - tell: the other end of `events`.
    public init(
        _ home: Home, events: AsyncStream<ScreenEvent>, tell: AsyncStream<ScreenEvent>.Continuation
    ) async throws {
        self.home = home
        self.events = events
        self.tell = tell
        store = try await NoteStore(home.database, on: home.machine)
    }

    /// Runs until the screen wants to quit, or the events end.
    public func run(show: (Screen) -> Void) async {
        var screen = Screen()
        var list = follow(screen.search)
        let sync = Task { for await state in home.syncStates() { tell.yield(.sync(state)) } }
        defer {
            sync.cancel()
            list.cancel()
        }
        show(screen)
        for await event in events {
            for action in screen.handle(event) {
                if action == .quit { return }
                if case .search(let typed) = action {
                    list.cancel()
                    list = follow(typed)
                }
                if let news = await outcome(of: action) { _ = screen.handle(news) }
            }
            show(screen)
        }
    }

    /// Does what is to be done. What fails is told, and the program goes on.
    private func outcome(of action: ScreenAction) async -> ScreenEvent? {
        do {
            let saved: SavedNote?
            switch action {
            case .quit, .search: return nil
            case .setOnline(let isOnline):
                try await home.setOnline(isOnline)
                return nil
            case .invite: return .message(try await home.invitation())
            case .delete(let id):
                try await store.delete(id)
                return .deleted(id)
            case .create(let title): saved = try await store.create(title: title)
            case .rename(let id, let title): saved = try await store.rename(id, to: title)
            case .tag(let id, let tags): saved = try await store.tag(id, with: tags)
            case .write(let text, let note): saved = try await store.write(text, to: note)
            }
            return saved.map { .saved($0) } ?? .message("the note was deleted meanwhile")
        } catch {
            if case .write(let text, let note) = action { return .unsaved(text, note, "\(error)") }
            return .message("\(error)")
        }
    }

    /// Follows a search: what it finds now, and each newer result.
    private func follow(_ typed: String) -> Task<Void, Never> {
        Task {
            while !Task.isCancelled {
                do {
                    for try await result in try store.found(by: typed).live() {
                        tell.yield(.notes(result.rows, search: typed, sequence: result.sequence))
                    }
                    return
                } catch {
                    // A disk may be there again, and a document that is no note be mended.
                    tell.yield(.message("\(error)"))
                    try? await Task.sleep(for: .seconds(1))
                }
            }
        }
    }
}
