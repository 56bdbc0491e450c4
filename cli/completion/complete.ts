/**
 * Answers `agent complete -- <words>`, which the scripts of `agent completion` call on every Tab. Prints one
 * line for each candidate of the last word: the word, a tab and its description. Prints `:files` to let the
 * shell complete files. bin/agent.cjs calls it without loading oclif.
 */
import { readdirSync } from 'node:fs'
import { expectedStates, meanings } from '../format/states.ts'
import { kindOf } from '../input/kinds.ts'
import { whatIsNext, type Candidate, type Manifest, type Place } from './words.ts'

/** Returns the candidates. Returns none on errors, and never prompts. */
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
  if (name === 'wait' || name === 'state') {
    const states = Object.entries(meanings[topic as keyof typeof meanings] ?? {})
    const words = new Set(name === 'state' ? states.map(([, state]) => state.words) : [])
    return [
      // Shells would split the others.
      ...[...words].filter((each) => !each.includes(' ')).map((value) => ({ value })),
      ...states.map(([value, state]) => ({ value, about: state.words })),
    ]
  }
  if (command.id === 'explain' && place.kind === 'arg') {
    const { names } = await import('../explain/explanations.ts')
    return names().map((value) => ({ value }))
  }
  if (topic === 'config' && name === 'name') {
    const { settingNames } = await import('../../src/foundation/config/report.ts')
    return settingNames().map((value) => ({ value }))
  }
  const kind = kindOf(place)
  if (kind === undefined) return []
  if (kind === 'file') return 'files'
  try {
    const { listThings } = await import('./live.ts')
    const things = await listThings(kind, given)
    const states = place.kind === 'arg' ? expectedStates(command.id.replace(':', ' ')) : []
    // A command that expects some states cannot use another record, such as one of the other role.
    return states.length === 0 ? things : things.filter(({ state = '' }) => states.includes(state))
  } catch {
    return []
  }
}

/**
 * Returns the files and folders that continue `@path`. Shells do not complete after an @. A folder ends in a
 * slash.
 */
function filesAfterAt(word: string): Candidate[] {
  const slash = word.lastIndexOf('/')
  const folder = word.slice(1, slash + 1)
  try {
    return readdirSync(folder || '.', { withFileTypes: true })
      .filter(({ name }) => !name.startsWith('.') || word.slice(slash + 1).startsWith('.'))
      .map((entry) => ({ value: `@${folder}${entry.name}${entry.isDirectory() ? '/' : ''}` }))
      .toSorted((a, b) => (a.value < b.value ? -1 : 1))
  } catch {
    return []
  }
}
