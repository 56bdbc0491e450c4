/** Why a key does nothing here. */
import { explain } from '../../commands/_format/states.ts'
import type { Connection, CredentialRecord, PresentationRecord } from '../data/data.ts'
import type { PaneName } from '../panes/pane.ts'

const words: Readonly<Record<string, string>> = {
  a: 'accept',
  i: 'issue',
  p: 'present or publish',
  v: 'accept as verified',
  x: 'reject',
  r: 'revoke',
  Q: 'show as a QR code',
  t: 'test',
  s: 'send again',
  y: 'copy',
}

/** Nothing for a key that has no meaning anywhere. */
export function refusalOf(key: string, pane: PaneName, item: unknown): string | undefined {
  const word = words[key]
  if (word === undefined) return undefined
  if (item === undefined) return `There is nothing to ${word}: the list is empty.`
  const state = stateOf(pane, item)
  return `There is nothing to ${word} here${state === undefined ? '' : `: it is in ${state}`}.`
}

function stateOf(pane: PaneName, item: unknown): string | undefined {
  if (pane === 'connections') return explain('connection', (item as Connection).state)
  if (pane === 'credentials') return explain('credential', (item as CredentialRecord).protocolState)
  return pane === 'proofs' ? explain('proof', (item as PresentationRecord).status) : undefined
}
