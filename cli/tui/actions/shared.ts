/** The actions that several panes have, and the search for the connection of a record. */
import { CommandError } from '../../errors/errors.ts'
import { shorten } from '../../format/text.ts'
import type { Connection, Data } from '../data/data.ts'
import type { Pane, PaneName } from '../panes/pane.ts'
import type { Action, ActionContext, Run } from './action.ts'
import { isConnected } from '../../format/states.ts'
import { label, pingPeer } from './connection.ts'
import { showMessages } from './messages.ts'
import { showTrace } from './trace.ts'

type SharedAction = {
  key: string
  word: string
  /** The panes whose items have the action. */
  panes: readonly PaneName[]
  /** True for the items that have it; all by default. */
  when?: (pane: Pane<any>, item: any, data: Data) => boolean
  run: (context: ActionContext, pane: Pane<any>, item: any) => Promise<string | undefined>
}

const records = ['connections', 'credentials', 'proofs'] as const
const all = [...records, 'dids', 'webhooks', 'events'] as const

/** Every action that more than one pane has, in the order of the line of keys. */
export const sharedActions: readonly SharedAction[] = [
  { key: 'Q', word: 'QR', panes: records, when: hasInvitation, run: showInvitation },
  { key: 'T', word: 'trace', panes: [...records, 'dids', 'events'], when: hasThread, run: trace },
  { key: 'd', word: 'delete', panes: ['credentials', 'proofs', 'webhooks'], run: remove },
  { key: 'y', word: 'copy URL', panes: records, when: hasInvitation, run: copyUrl },
  { key: 'U', word: 'copy long URL', panes: records, when: hasLongUrl, run: copyLongUrl },
  { key: 'Y', word: 'copy id', panes: records, when: hasInvitation, run: copyId },
  { key: 'y', word: 'copy id', panes: all, when: (pane, item) => !hasInvitation(pane, item), run: copyId },
  { key: 'm', word: 'messages', panes: records, when: mayBeConnected, run: overConnection(showMessages) },
  { key: 'P', word: 'ping', panes: records, when: mayBeConnected, run: overConnection(pingPeer) },
  { key: 'L', word: 'label', panes: records, when: hasLabel, run: overConnection(label) },
]

/** Returns the shared actions that an item has now. */
export function sharedActionsOf<Item>(pane: Pane<Item>, item: Item, data: Data): Action<Item>[] {
  return sharedActions
    .filter(({ panes, when }) => panes.includes(pane.name) && (when?.(pane, item, data) ?? true))
    .map(({ key, word, run }) => ({
      key,
      word: word === 'copy id' ? `copy ${pane.idName ?? 'id'}` : word,
      run: (context, item) => run(context, pane, item),
    }))
}

function hasInvitation<Item>(pane: Pane<Item>, item: Item): boolean {
  return pane.invitation?.(item) !== undefined
}

function hasLongUrl<Item>(pane: Pane<Item>, item: Item): boolean {
  const { url, longUrl } = pane.invitation?.(item) ?? {}
  return longUrl !== url
}

function hasThread<Item>(pane: Pane<Item>, item: Item): boolean {
  return pane.thread?.(item) !== undefined
}

/**
 * False for a connection that is not established, and for a record that was exchanged without one, once that
 * is known.
 */
function mayBeConnected<Item>(pane: Pane<Item>, item: Item, data: Data): boolean {
  if (pane.name === 'connections') return isConnected(item as Connection)
  const { thid, openid4vci, openid4vp, openid4vpRequest } = item as Exchanged
  const isOverOpenId = [openid4vci, openid4vp, openid4vpRequest].some((each) => each !== undefined)
  return !isOverOpenId && data.connections.length > 0 && !data.unconnected.includes(thid)
}

function hasLabel<Item>(pane: Pane<Item>, item: Item, data: Data): boolean {
  return pane.name === 'connections' || mayBeConnected(pane, item, data)
}

/** Returns a record of which only its messages tell whether it has a connection. */
export function unknownConnection<Item>(pane: Pane<Item>, item: Item, data: Data): Exchanged | undefined {
  if (pane.name !== 'credentials' && pane.name !== 'proofs') return undefined
  const record = item as Exchanged
  return record.connectionId === undefined && mayBeConnected(pane, item, data) ? record : undefined
}

async function showInvitation<Item>(
  context: ActionContext,
  pane: Pane<Item>,
  item: Item,
): Promise<undefined> {
  context.showInvitation(pane, item)
}

async function trace<Item>(context: ActionContext, pane: Pane<Item>, item: Item): Promise<undefined> {
  await showTrace(context, pane.thread!(item)!)
}

async function remove<Item>(
  context: ActionContext,
  pane: Pane<Item>,
  item: Item,
): Promise<string | undefined> {
  return pane.remove!(context, item)
}

async function copyUrl<Item>(context: ActionContext, pane: Pane<Item>, item: Item): Promise<string> {
  return copy(context, 'URL', pane.invitation!(item)!.url)
}

async function copyLongUrl<Item>(context: ActionContext, pane: Pane<Item>, item: Item): Promise<string> {
  return copy(context, 'long URL', pane.invitation!(item)!.longUrl)
}

async function copyId<Item>(context: ActionContext, pane: Pane<Item>, item: Item): Promise<string> {
  return copy(context, pane.idName ?? 'id', pane.id(item))
}

/** Characters of the copied text in the message. */
const maxShown = 80

function copy(context: ActionContext, what: string, text: string): string {
  context.copy(text)
  return `Copied the ${what}, if the terminal lets programs copy (OSC 52): ${shorten(text, maxShown, 'middle')}`
}

/** Runs an action of a connection on the connection of an item. */
function overConnection(run: Run<Connection>): SharedAction['run'] {
  return async (context, pane, item) =>
    run(context, pane.name === 'connections' ? item : await getConnection(context, item))
}

type Exchanged = {
  thid: string
  connectionId?: string | undefined
  openid4vci?: unknown
  openid4vp?: unknown
  openid4vpRequest?: unknown
}

async function getConnection(context: ActionContext, record: Exchanged): Promise<Connection> {
  context.say('Looking for the connection …')
  const found = await findConnection(context, record)
  if (found) return found
  throw new CommandError('This record was not exchanged over a connection.', 3)
}

/** The number of characters of a DID in a trace. */
const tracedDid = 80

/**
 * Finds the connection of a record: the one that it names, or the one whose DIDs sent its messages. Undefined
 * for a record that was exchanged by an invitation.
 */
export async function findConnection(
  context: Pick<ActionContext, 'call' | 'data'>,
  { thid, connectionId }: Pick<Exchanged, 'thid' | 'connectionId'>,
): Promise<Connection | undefined> {
  const { connections } = context.data()
  const named = connections.find((each) => each.connectionId === connectionId)
  if (named) return named
  const { steps } = await context.call('GET /traces/{id}', { path: { id: thid } })
  const dids = new Set(steps.flatMap((step) => (step.kind === 'message' ? [step.from, step.to] : [])))
  return connections.findLast(({ myDid, theirDid }) =>
    [myDid, theirDid].every((did) => did !== undefined && dids.has(did.slice(0, tracedDid))),
  )
}
