/**
 * Turns: who begins next, when more is asked for than one thread can do at a time.
 *
 * Work is begun one piece at a time, from each party that waits in turn, with a look at the network in between. So whoever comes waits for one
 * piece of work of each other party at most, however many of them a party has brought. Who comes with nothing else under way goes first, as in
 * FQ-CoDel (RFC 8290 §4.2): most do, and wait for what is being done just now only. Being refused is taken in turn too: a party that comes
 * again at once when it is refused would keep everybody from their work otherwise.
 */
import type { Config } from './config.ts'
import { Problem } from './problem.ts'

/** How many pieces of work there may be. */
export type TurnLimits = {
  /** Under way at a time: what computes is done in its turn, so these wait for something outside. */
  atOnce: number
  ofPartyAtOnce: number
  /** Waiting for their turn. */
  waiting: number
  ofPartyWaiting: number
}

/** Of all parties together: what waits costs some kilobytes each, and a file that is open where it is a wallet's. */
const inAll = { atOnce: 512, waiting: 5_000 }

/** The limits that the operator has set. */
export function turnLimits({ TENANT_REQUESTS_AT_ONCE, TENANT_REQUESTS_WAITING }: Config): TurnLimits {
  return { ...inAll, ofPartyAtOnce: TENANT_REQUESTS_AT_ONCE, ofPartyWaiting: TENANT_REQUESTS_WAITING }
}

/** A piece of work that is under way. */
export type Turn = {
  /** Lets others have its place; calling it again does nothing. */
  leave(): void
}

export type Turns = {
  /**
   * Resolves when it is the party's turn, which it has until it leaves.
   *
   * @param party whoever shares one queue, by any name.
   * @param onWait is told, if there is a wait, how to give it up: `take` resolves to nothing then.
   * @throws {Problem} 429 when too much of the party waits, 503 when too much of all waits; both say when to come again.
   */
  take(party: string, onWait?: (giveUp: () => void) => void): Promise<Turn | undefined>
  /** How much waits. */
  waiting(): number
}

/** Refusals that go out between two looks at the network. */
const refusalsAtOnce = 4

/** How many may go first in a row while others wait: whoever always has something else would never have a turn. */
const firstInRow = 8

/** When to come again, in seconds: a queue is worked off in less. */
const retryAfter = 1

type Waiting = { resolve: (turn: Turn | undefined) => void; reject: (error: Problem) => void }
type Party = { name: string; queue: Waiting[]; underWay: number }

export function createTurns(limits: TurnLimits): Turns {
  const parties = new Map<string, Party>()
  /** Parties that wait and have a place, in the order of their turns; and those of them that go first. */
  const [ready, fresh] = [new Set<Party>(), new Set<Party>()]
  let inRow = 0
  const refused: (() => void)[] = []
  let [underWay, waiting] = [0, 0]
  let isOver = true

  const find = (name: string): Party => {
    const party = parties.get(name) ?? { name, queue: [], underWay: 0 }
    parties.set(name, party)
    return party
  }

  /** Puts a party at the end of the row, or takes it out of it. */
  function lineUp(party: Party, row = ready): void {
    ready.delete(party)
    fresh.delete(party)
    if (party.queue.length > 0 && party.underWay < limits.ofPartyAtOnce) row.add(party)
    if (party.queue.length + party.underWay === 0) parties.delete(party.name)
  }

  function begin(party: Party): Turn {
    underWay++
    party.underWay++
    let isUnderWay = true
    return {
      leave() {
        if (!isUnderWay) return
        isUnderWay = false
        underWay--
        party.underWay--
        // It keeps its place in the row.
        if (!ready.has(party) && !fresh.has(party)) lineUp(party)
        if (isOver) goOn()
      },
    }
  }

  function next(): Party | undefined {
    const [[first], [other]] = [fresh, ready]
    if (underWay >= limits.atOnce || !(first ?? other)) return undefined
    inRow = first && (inRow < firstInRow || !other) ? inRow + 1 : 0
    return inRow > 0 ? first : other
  }

  /** Begins what comes next; then the network is looked at before anything else is begun. */
  function goOn(): void {
    const party = next()
    const refusals = refused.splice(0, refusalsAtOnce)
    if (!party && refusals.length === 0) return
    pause()
    for (const refuse of refusals) refuse()
    if (!party) return
    const { resolve } = party.queue.shift()!
    waiting--
    const turn = begin(party)
    lineUp(party)
    resolve(turn)
  }

  function pause(): void {
    isOver = false
    setImmediate(() => {
      isOver = true
      goOn()
    })
  }

  function wait(party: Party, onWait: (giveUp: () => void) => void): Promise<Turn | undefined> {
    return new Promise((resolve, reject) => {
      const entry = { resolve, reject }
      party.queue.push(entry)
      waiting++
      if (!ready.has(party) && !fresh.has(party)) lineUp(party, party.underWay === 0 ? fresh : ready)
      onWait(() => {
        const at = party.queue.indexOf(entry)
        if (at < 0) return
        party.queue.splice(at, 1)
        waiting--
        if (party.queue.length === 0) lineUp(party)
        resolve(undefined)
      })
      if (isOver) goOn()
    })
  }

  function refuse(problem: Problem): Promise<never> {
    return new Promise((_resolve, reject) => {
      refused.push(() => reject(problem))
      if (isOver) goOn()
    })
  }

  return {
    take(name, onWait = () => undefined) {
      const party = find(name)
      if (isOver && waiting === 0 && underWay < limits.atOnce && party.underWay < limits.ofPartyAtOnce) {
        pause()
        return Promise.resolve(begin(party))
      }
      if (party.queue.length >= limits.ofPartyWaiting)
        return refuse(
          new Problem(
            'TooManyRequests',
            `${limits.ofPartyWaiting} requests of yours wait already. ${comeAgain}`,
            { retryAfter },
          ),
        )
      if (waiting >= limits.waiting) {
        lineUp(party)
        return refuse(
          new Problem('error:ServiceUnavailable', `The agent has too much to do. ${comeAgain}`, {
            retryAfter,
          }),
        )
      }
      return wait(party, onWait)
    },
    waiting: () => waiting,
  }
}

const comeAgain = `Come again in ${retryAfter} second, and with fewer requests at a time.`
