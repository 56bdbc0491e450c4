/** What commands have that ask somebody for a DID or for a signature: the QR code, and waiting for the answer. */
import { setTimeout } from 'node:timers/promises'
import * as Flags from '@oclif/core/flags'
import type { Client } from '../daemon/client/client.ts'
import type { Answer } from './client/api.ts'
import { CommandError } from './errors/errors.ts'
import { inStyle } from './format/colour.ts'
import type { Column } from './format/table.ts'
import { ago } from './format/time.ts'
import { readSeconds } from './input/time.ts'
import { InvitingCommand } from './inviting.ts'
import { askedQrFlags, chooseAskedQr, chooseQr, qrFlags, type QrFlags } from './prompts/qr-choice.ts'

type DidRequest = Answer<'GET /onboard/did-requests/{didRequestId}'>
type Challenge = Answer<'GET /did-authentication/challenges/{challengeId}'>
export type Asked = DidRequest | Challenge

type Kind = {
  /** How it is called in a table. */
  name: string
  read: (call: Client, id: string, wait: number) => Promise<Asked>
  words: Readonly<Record<Asked['state'], string>>
  /** The exit code when the answer was none. */
  failed: number
}

/** By topic. */
export const kinds = {
  onboard: {
    name: 'DID request',
    read: (call, didRequestId, wait) =>
      call('GET /onboard/did-requests/{didRequestId}', { path: { didRequestId }, query: { wait } }),
    words: { pending: 'waiting for a DID', success: 'answered', error: 'declined, or answered with no DID' },
    failed: 5,
  },
  auth: {
    name: 'challenge',
    read: (call, challengeId, wait) =>
      call('GET /did-authentication/challenges/{challengeId}', { path: { challengeId }, query: { wait } }),
    words: { pending: 'waiting for a signature', success: 'signed in', error: 'the answer did not hold' },
    failed: 8,
  },
} as const satisfies Record<string, Kind>
export type Topic = keyof typeof kinds

const styles = { pending: 'waiting', success: 'good', error: 'bad' } as const

const waitFlag = { wait: Flags.boolean({ description: 'wait for the answer' }) }
const timeoutFlag = {
  timeout: Flags.string({
    dependsOn: ['wait'],
    description: 'how long to wait: 30s, 10m, 2h; 5m when left out',
  }),
}
export const waitFlags = { ...waitFlag, ...timeoutFlag }
export const askFlags = {
  from: Flags.string({ description: 'who asks, in words that the other side sees' }),
  ...qrFlags(),
  ...waitFlags,
}
export const lookFlags = { ...askedQrFlags(), ...waitFlags }

type Waiting = { wait?: boolean; timeout?: string | undefined }

/** Seconds that one call waits, which is shorter than a call may take. */
const longestCall = 20

export abstract class AskingCommand extends InvitingCommand {
  /** Asks, shows what was asked for whoever is to answer, and what has come of it when that is waited for. */
  protected async ask(topic: Topic, make: () => Promise<Asked>, flags: Waiting & QrFlags): Promise<Asked> {
    const seconds = this.#patience(flags)
    const qr = chooseQr(flags)
    const made = await make()
    if (this.isQuiet) this.log(made.id)
    await this.printQrText(made.id, textOf(made), qr)
    if (seconds === undefined) {
      this.suggest(`agent ${topic} show ${made.id} --wait`)
      return made
    }
    if (this.jsonEnabled()) this.logJson(made)
    return this.#settled(topic, made, seconds)
  }

  /** Shows what was asked before, and what has come of it. */
  protected async look(topic: Topic, id: string, flags: Waiting & QrFlags): Promise<Asked> {
    const seconds = this.#patience(flags)
    const qr = chooseAskedQr(flags)
    const asked = await kinds[topic].read(this.call, id, 0)
    if (asked.state !== 'pending' || isLate(asked)) this.missQr(qr)
    else if (qr) await this.printQrText(id, textOf(asked), qr)
    if (seconds !== undefined) return this.#settled(topic, asked, seconds)
    this.#print(topic, asked)
    return asked
  }

  #patience({ wait, timeout = '5m' }: Waiting): number | undefined {
    return wait ? readSeconds('timeout', timeout) : undefined
  }

  /** @throws {CommandError} 6 when no answer came in time, 5 or 8 when it was none. */
  async #settled(topic: Topic, made: Asked, seconds: number): Promise<Asked> {
    const { read, name, failed, words } = kinds[topic]
    const until = performance.now() + seconds * 1_000
    let asked = made
    let early = 0
    const end = 'challenge' in made ? ` until ${made.challenge.expireAt}` : ''
    if (made.state === 'pending')
      this.sayAtTerminal(
        `Waiting for the answer to the ${name}, ${seconds} s at most. Ctrl-C stops waiting: the ${name} stays open${end}.`,
      )
    while (asked.state === 'pending' && early < 2 && performance.now() < until) {
      const seconds = Math.min(Math.ceil((until - performance.now()) / 1_000), longestCall)
      const begin = performance.now()
      asked = await read(this.call, made.id, seconds)
      // The daemon does not wait for what can come no more, nor when it stops: that shows when it is asked once more.
      early = performance.now() - begin < seconds * 1_000 - 500 ? early + 1 : 0
      if (asked.state === 'pending' && early === 1) await setTimeout(1_000)
    }
    this.#print(topic, asked)
    if (asked.state === 'success') return asked
    if (asked.state === 'error') throw new CommandError(`The ${name} has ended: ${words.error}.`, failed)
    throw new CommandError(
      `Nobody has answered the ${name} in time.`,
      6,
      `agent ${topic} show ${made.id} --wait`,
    )
  }

  #print(topic: Topic, asked: Asked): void {
    const { name, words } = kinds[topic]
    const { from, ...rest } = 'challenge' in asked ? asked.challenge : asked.didRequest
    const isOver = asked.state === 'pending' && isLate(asked)
    this.print(asked.id, [
      [name.toLowerCase(), asked.id],
      ['from', from],
      [
        'state',
        inStyle(
          isOver ? 'bad' : styles[asked.state],
          isOver ? 'nobody has answered in time' : words[asked.state],
        ),
      ],
      ['did', asked.did ?? undefined],
      ['ends', 'expireAt' in rest ? rest.expireAt : undefined],
      ['created', asked.createdAt],
      ['updated', asked.updatedAt],
    ])
  }
}

/** What the QR code carries. */
function textOf(asked: Asked): string {
  return JSON.stringify('challenge' in asked ? asked.challenge : asked.didRequest)
}

/** True when nobody can answer any more, by this machine's clock; a DID request does not say. */
function isLate(asked: Asked): boolean {
  return 'challenge' in asked && Date.parse(asked.challenge.expireAt) <= Date.now()
}

/** The columns of a list; `topic` says of what. */
export function columns(topic: Topic): Column<Asked>[] {
  return [
    { head: 'id', of: ({ id }) => id },
    { head: 'state', of: ({ state }) => inStyle(styles[state], kinds[topic].words[state]) },
    {
      head: 'from',
      of: (asked) => ('challenge' in asked ? asked.challenge : asked.didRequest).from,
      cut: 'end',
    },
    { head: 'did', of: ({ did }) => did ?? undefined, cut: 'end' },
    { head: 'created', of: ({ createdAt }) => ago(createdAt, Date.now()), optional: true },
  ]
}
