/**
 * The command line (`:`). Its names are those of panes, of actions, and of what `n` creates; each stands for
 * the keys that do the same.
 */
import { nearest } from '../../../src/foundation/nearest.ts'
import { actionsOf, type Action } from '../actions/action.ts'
import { creations } from '../actions/new.ts'
import { sharedActions } from '../actions/shared.ts'
import type { Data } from '../data/data.ts'
import { paneNames, type PaneName } from '../panes/pane.ts'
import { graphemes, typed } from './page.ts'
import { panes, selectionOf, stateOf, type Ui } from './ui.ts'

/** A command, and the keys that it stands for. Without keys, the selected item does not have it. */
type Command = { name: string; keys?: readonly string[] }

/** Returns the keys and words of all actions, those of a pane first. */
function allActions(pane: PaneName): readonly Pick<Action, 'key' | 'word'>[] {
  return [...panes[pane].actions, ...Object.values(panes).flatMap(({ actions }) => actions), ...sharedActions]
}

/** Returns why a key does nothing. Undefined for keys without any action. */
export function refusalOf(key: string, pane: PaneName, item: unknown): string | undefined {
  const action = allActions(pane).find((each) => each.key === key)
  return action && refusal(action.word, pane, item)
}

function refusal(word: string, pane: PaneName, item: unknown): string {
  const state = item === undefined ? undefined : stateOf(pane, item)
  const why = item === undefined ? ': the list is empty' : state === undefined ? '' : `: it is in ${state}`
  return `There is no “${word}” now${why}.`
}

/** Returns all commands. Those of actions depend on the selected item. */
export function commandsOf(data: Data, ui: Ui): readonly Command[] {
  const { pane, item } = selectionOf(data, ui)
  const available = item === undefined ? [] : actionsOf(pane, item, data)
  const all = allActions(ui.pane)
  const commands: Command[] = [
    ...paneNames.map((name, index) => ({ name, keys: [String(index + 1)] })),
    ...creations.map(({ name }, index) => ({ name, keys: ['n', String(index + 1)] })),
    ...available.map(({ key, word }) => ({ name: toName(word), keys: [key] })),
    ...all.map(({ word }) => ({ name: toName(word) })),
    { name: 'filter', keys: ['/', 'ctrl-u'] },
    { name: 'help', keys: ['?'] },
    { name: 'new', keys: ['n'] },
    { name: 'reload', keys: ['R'] },
    { name: 'quit', keys: ['q'] },
  ]
  return commands.filter(({ name }, index) => commands.findIndex((each) => each.name === name) === index)
}

function toName(word: string): string {
  return word.toLowerCase().replaceAll(' ', '-')
}

/** Returns the keys of a line, or why there are none. Words after `filter` are its text. */
export function keysOf(data: Data, ui: Ui, line: string): readonly string[] | { reason: string } {
  const [name = '', ...words] = line.trim().split(/\s+/)
  const commands = commandsOf(data, ui)
  const found = commands.find((each) => each.name === name)
  if (!found) {
    const near = nearest(
      name,
      commands.map((each) => each.name),
    )
    return {
      reason: `There is no command “${name}”.${near === undefined ? ' Tab lists the commands.' : ` Did you mean ${near}?`}`,
    }
  }
  if (!found.keys) return { reason: refusal(name, ui.pane, selectionOf(data, ui).item) }
  if (name === 'filter') return [...found.keys, ...graphemes(words.join(' ')), 'enter']
  return words.length === 0 ? found.keys : { reason: `The command ${name} takes no words after it.` }
}

/** Returns the names that a line may become. */
export function candidatesOf(data: Data, ui: Ui, line: string): readonly string[] {
  return commandsOf(data, ui).flatMap(({ name, keys }) => (keys && name.startsWith(line) ? [name] : []))
}

export type CommandLine = {
  kind: 'command'
  text: string
  /** The position in the history; after its end for a new line. */
  at: number
}

/** Returns the command line after a key: its text, or `run` with Enter. Undefined when it closes. */
export function editCommand(
  data: Data,
  ui: Ui,
  line: CommandLine,
  key: string,
): { line?: CommandLine; run?: string } {
  const { text, at } = line
  const recall = (next: number) => ({ line: { ...line, at: next, text: ui.history[next] ?? '' } })
  switch (key) {
    case 'escape':
    case 'ctrl-c':
      return {}
    case 'enter':
      return text.trim() === '' ? {} : { run: text.trim() }
    case 'up':
      return recall(Math.max(at - 1, 0))
    case 'down':
      return recall(Math.min(at + 1, ui.history.length))
    case 'tab':
      return { line: { ...line, text: completed(text, candidatesOf(data, ui, text)) } }
  }
  // Backspace in an empty line closes it, as in vi.
  if (key === 'backspace' && text === '') return {}
  return { line: { ...line, text: typed(text, key) ?? text } }
}

/** Returns the longest start that all candidates have. */
function completed(text: string, candidates: readonly string[]): string {
  const [first] = candidates
  if (first === undefined) return text
  let length = first.length
  while (!candidates.every((each) => each.startsWith(first.slice(0, length)))) length--
  return first.slice(0, length) + (candidates.length === 1 && first === 'filter' ? ' ' : '')
}
