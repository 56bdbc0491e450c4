/** Prints the demo: steps, calls, state changes and messages, as lines or in two panes. */
import { styleText } from 'node:util'
import type { Client } from '../../daemon/client/client.ts'
import { definitionOf, meanings } from '../format/states.ts'
import { pad, shorten, widthOf } from '../format/text.ts'
import { drawQr, type Screen } from '../qr/draw.ts'
import type { Change } from './changes.ts'
import { cliLine, curlLine, quote, type Caller, type Input } from './calls.ts'
import type { Viewer } from './flow.ts'
import type { Panes } from './panes.ts'
import { names as parties, type Name } from './party.ts'

export type Narrator = Viewer & {
  say: (text: string) => void
  tell: (who: Name, text: string) => void
  change: (change: Change) => void
  /** Prints a value of a party and assigns it to a shell variable. */
  name: (who: Name, variable: string, value: string) => void
  /** Same for a value that only curl lines use. */
  nameForCurl: (who: Name, variable: string, value: string) => void
  /** Same for a key. Shows only its beginning, unless the daemons keep running. */
  nameSecret: (who: Name, variable: string, value: string) => void
  /** Wraps a client so that its calls are printed. */
  watch: (client: Client, caller: Caller) => Client
}

export const silent: Narrator = {
  say: () => {},
  tell: () => {},
  step: () => {},
  invitation: () => {},
  change: () => {},
  name: () => {},
  nameForCurl: () => {},
  nameSecret: () => {},
  watch: (client) => client,
}

/** Prints a text. A reader needs the time of `lines` lines for it; one if not given. */
export type Print = (text: string, lines?: number) => void

export type Look = {
  isTerminal: boolean
  isColoured: boolean
  /** The daemons keep running, so values are printed in full for copying. */
  isKept: boolean
  hasCurl: boolean
  screen: Screen
  /** The two panes; undefined for lines. */
  panes?: Panes | undefined
}

const colours = { acme: 'cyan', alice: 'magenta' } as const satisfies Record<Name, string>
const shownOfSecret = 6

/** The lines that a reader of a QR code, a heading and a command needs the time of. */
const [qrLines, stepLines, commandLines] = [6, 3, 2]

export function createNarrator(print: Print, look: Look): Narrator {
  const { isTerminal, isColoured, isKept, hasCurl, screen, panes } = look
  const names = new Map<string, string>()
  let steps = 0
  const styled = (format: Parameters<typeof styleText>[0], text: string) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text
  const bold = (text: string) => styled('bold', text)
  const dim = (text: string) => styled('dim', text)
  const signed = (who: Name) => (text: string) => styled(colours[who], text)
  const name = (who: Name, variable: string, value: string, shown: string, isForCurl: boolean) => {
    names.set(value, variable)
    if (isForCurl && !hasCurl) return
    const line = `${variable}=${shown}`
    print(panes ? panes.text(who, shorten(line, panes.width - 2, 'middle'), dim) : `   ${dim(line)}`)
  }
  const nameInFull = (who: Name, variable: string, value: string, isForCurl = false) =>
    name(who, variable, value, /\s/.test(value) ? quote(value) : value, isForCurl)
  return {
    say: print,
    tell: (who, text) => print(panes ? panes.text(who, text) : `   ${text}`),
    step: (title) => {
      const heading = `\n${bold(`${++steps}. ${title}`)}`
      print(panes ? `${heading}\n${panes.head(signed)}` : heading, stepLines)
    },
    change: ({ who, what, state }) => {
      const words = what === 'did' ? '' : (meanings[what][state]?.words ?? '')
      if (!panes)
        return print(
          `   ${signed(who)(pad(who, 6))} ${pad(what, 11)} ${words === '' ? state : `${pad(state, 27)} ${dim(words)}`}`,
        )
      const message = messageBefore(what, state)
      const sender = parties.find((each) => each !== who)!
      if (message !== undefined) print(panes.arrow(sender, message, signed(sender)))
      const line = `${state}: ${words}`
      print(panes.text(who, words !== '' && widthOf(line) <= panes.width - 2 ? line : state, signed(who)))
    },
    name: nameInFull,
    nameForCurl: (who, variable, value) => nameInFull(who, variable, value, true),
    nameSecret: (who, variable, value) =>
      name(who, variable, value, isKept ? value : `${value.slice(0, shownOfSecret)}…`, true),
    invitation: (url) => {
      names.set(url, 'INVITATION')
      const columns = panes?.width ?? screen.columns
      // Below the code are the URL and the next command.
      const fit = { columns, rows: screen.rows, reserved: 4 }
      const qr = isTerminal ? drawQr(url, fit) : undefined
      if (qr && 'reason' in qr)
        print(panes ? panes.text('acme', `No QR code: ${qr.reason}.`) : `   No QR code: ${qr.reason}.`)
      else if (qr) print(panes ? panes.drawing('acme', qr.lines, qr.width) : qr.lines.join('\n'), qrLines)
      if (!panes) return nameInFull('acme', 'INVITATION', url)
      // The URL has a line of its own, to be whole.
      print(panes.drawing('acme', [dim(pad('INVITATION=', panes.width)), pad(url, panes.width)], panes.width))
    },
    watch: (client, caller) =>
      ((key: string, input: Input = {}) => {
        const who = caller.base.toLowerCase() as Name
        // A pane is the terminal of its party.
        const command = cliLine(key, input, panes ? undefined : who, names)
        if (command !== undefined)
          print(panes ? panes.text(who, `$ ${command}`, bold) : `   $ ${command}`, commandLines)
        if (hasCurl) print(`   ${dim(`$ ${curlLine(key, input, caller, names)}`)}`)
        return (client as unknown as (key: string, input: Input) => unknown)(key, input)
      }) as Client,
  }
}

/** Returns the message whose arrival leads to a state, such as `credential offer`. Undefined if it is none. */
function messageBefore(what: Change['what'], state: string): string | undefined {
  if (what === 'did') return undefined
  const row = definitionOf(what).rows.find(
    ([, , on, to]) => to === state && /^(received|verified|refused) /.test(on),
  )
  const [, message] = row?.[2].split(' ') ?? []
  if (message === undefined || message === 'invitation' || message === 'presentation' || message === what)
    return message
  return message === 'problem-report' ? 'problem report' : `${what} ${message}`
}
