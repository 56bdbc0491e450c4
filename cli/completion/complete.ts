/**
 * What `agent complete -- <words>` prints, which the scripts of `agent completion` ask on every tab: a line for each word that may
 * stand for the last one, with what it is after a tab, or `:files` where the shell knows better. bin/agent.cjs answers with it before
 * oclif is loaded.
 */
import { meanings } from '../format/states.ts'
import { filesAfterAt } from './files.ts'
import { expectedStates, kindOf } from './kinds.ts'
import { whatIsNext, type Candidate, type Manifest, type Place } from './words.ts'

/** Never fails, and never asks: who cannot be completed for is not disturbed. */
export async function complete(manifest: Manifest, words: readonly string[]): Promise<string> {
  const current = words.at(-1) ?? ''
  const next = whatIsNext(manifest, words)
  const found =
    'words' in next ? next.words : await valuesFor(next.place, current.slice(next.place.before.length))
  if (found === 'files') return ':files\n'
  const before = 'words' in next ? '' : next.place.before
  return found
    .map(({ value, about }) => ({ value: `${before}${value}`, about }))
    .filter(({ value }) => value.startsWith(current))
    .map(({ value, about }) => (about ? `${value}\t${about}\n` : `${value}\n`))
    .join('')
}

async function valuesFor(place: Place, current: string): Promise<Candidate[] | 'files'> {
  const { command, name, options, given } = place
  if (options) return options.map((value) => ({ value }))
  if (current.startsWith('@')) return filesAfterAt(current)
  const [topic = ''] = command.id.split(':')
  if (name === 'wait')
    return Object.entries(meanings[topic as keyof typeof meanings] ?? {}).map(([value, { words }]) => ({
      value,
      about: words,
    }))
  if (command.id === 'explain' && place.kind === 'arg') {
    const { names } = await import('../explain/find.ts')
    return names().map((value) => ({ value }))
  }
  const kind = kindOf(place)
  if (kind === undefined) return []
  if (kind === 'file') return 'files'
  try {
    const { listThings } = await import('./live.ts')
    const things = await listThings(kind, given)
    const states = place.kind === 'arg' ? expectedStates(command.id) : []
    const expected = things.filter(({ state = '' }) => states.includes(state))
    return expected.length > 0 ? expected : things
  } catch {
    return []
  }
}
