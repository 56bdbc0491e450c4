/** Why a key does nothing here. */
import { explain } from '../../format/states.ts'
import type { Connection, CredentialRecord, PresentationRecord } from '../data/data.ts'
import type { PaneName } from '../panes/pane.ts'

const words: Readonly<Record<string, string>> = {
  a: 'accept',
  i: 'issue',
  p: 'present',
  v: 'accept as verified',
  x: 'reject',
  r: 'revoke',
  Q: 'show as a QR code',
  t: 'test',
  s: 'retry',
  d: 'delete',
  m: 'send a message to',
  L: 'label',
  T: 'trace',
  y: 'copy',
}

/** The word for `p` in other panes. */
const wordsOfP: Readonly<Partial<Record<PaneName, string>>> = { connections: 'ping', dids: 'publish' }

/** Nothing for a key that has no meaning anywhere. */
export function refusalOf(key: string, pane: PaneName, item: unknown): string | undefined {
  const word = (key === 'p' && wordsOfP[pane]) || words[key]
  if (word === undefined) return undefined
  if (item === undefined) return `There is nothing to ${word}: the list is empty.`
  if (key === 'd' && pane === 'connections')
    return 'A connection cannot be deleted; x withdraws an invitation that was not accepted.'
  const state = stateOf(pane, item)
  return `There is nothing to ${word} here${state === undefined ? '' : `: it is in ${state}`}.`
}

function stateOf(pane: PaneName, item: unknown): string | undefined {
  if (pane === 'connections') return explain('connection', (item as Connection).state)
  if (pane === 'credentials') return explain('credential', (item as CredentialRecord).protocolState)
  return pane === 'proofs' ? explain('proof', (item as PresentationRecord).status) : undefined
}
