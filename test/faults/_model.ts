/**
 * The reference model: the state tables in `fixtures/service/states.md`, independent of the code. The events
 * of a record must be a path through its table from a start to an end, with each step once.
 */
import { readFileSync } from 'node:fs'
import type { Event } from '../../src/wallet/events/event.ts'
import { stateOf, subjectOf } from '../support/webhook.ts'

const document = readFileSync(new URL('../../fixtures/service/states.md', import.meta.url), 'utf8')

const sections: Record<string, string> = {
  ConnectionUpdated: '## 3.1 ',
  IssueCredentialRecordUpdated: '## 3.2 ',
  PresentationUpdated: '## 3.3 ',
}

/** `<type> <role> <from> <to>` of every row. */
const steps = new Set<string>()
/** `<type> <role> <state>` of every final state. */
const ends = new Set<string>()

for (const [type, heading] of Object.entries(sections)) {
  const begin = document.indexOf(heading)
  const text = document.slice(begin, document.indexOf('\n## ', begin) >>> 0)
  const rows = [...text.matchAll(/^\| (?!role|---)(.+) \|$/gm)].map(([, row]) => {
    const [role, from, , to] = row!.split(' | ')
    return { role: role!.replace('Holder/Prover', 'Prover'), from: from!, to: to! }
  })
  for (const { role, from, to } of rows) {
    steps.add(`${type} ${role} ${from} ${to}`)
    if (!rows.some((row) => row.role === role && row.from === to)) ends.add(`${type} ${role} ${to}`)
  }
}

export type Verdict = {
  records: number
  events: number
  missing: string[]
  doubled: string[]
  unended: string[]
}

/** Replays events. Those of each wallet are in the order of the log. */
export function judge(events: readonly Event[]): Verdict {
  const verdict: Verdict = { records: 0, events: events.length, missing: [], doubled: [], unended: [] }
  const stories = new Map<string, { type: string; role: string; states: string[] }>()
  for (const event of events) {
    const { type, walletId, data } = event
    if (!(type in sections)) continue
    const role = String(data['role'])
    const key = `${type} ${walletId} ${subjectOf(event)} ${role}`
    const story = stories.get(key) ?? { type, role, states: [] }
    stories.set(key, story)
    story.states.push(stateOf(event))
  }
  for (const [key, { type, role, states }] of stories) {
    verdict.records++
    let at = '(none)'
    const been = new Set<string>()
    for (const state of states) {
      if (been.has(state)) verdict.doubled.push(`${key}: ${state} again after ${at}`)
      else if (!steps.has(`${type} ${role} ${at} ${state}`))
        verdict.missing.push(`${key}: from ${at} to ${state}`)
      been.add(state)
      at = state
    }
    if (!ends.has(`${type} ${role} ${at}`)) verdict.unended.push(`${key}: ${at}`)
  }
  return verdict
}
