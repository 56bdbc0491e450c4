/** Coordinate mediation 2.0 and 3.0: the same talk under two sets of names (wire.md 7.3, 7.4). */
import { z } from 'zod'
import { Did } from '../did/document.ts'
import {
  addRecipient,
  countRecipients,
  enrol,
  isEnrolled,
  listRecipients,
  removeRecipient,
  type UpdateResult,
} from './accounts.ts'
import { removeUnused } from './idle.ts'
import { notEnrolled } from './refusal.ts'
import { threadOf } from './reply.ts'
import { readBody, type Handler, type House } from './request.ts'
import { routeKey } from './route-key.ts'
import type { MediatorTx } from '../storage/database.ts'

/** What differs between the versions: message names, and the shape of two members. */
const versions = [
  {
    family: 'https://didcomm.org/coordinate-mediation/2.0/',
    update: 'keylist-update',
    query: 'keylist-query',
    list: 'keylist',
    items: 'keys',
    toRoutingDid: (did: string): unknown => did,
  },
  {
    family: 'https://didcomm.org/coordinate-mediation/3.0/',
    update: 'recipient-update',
    query: 'recipient-query',
    list: 'recipient',
    items: 'dids',
    toRoutingDid: (did: string): unknown => [did],
  },
]
type Version = (typeof versions)[number]

/** Recipients that one message may update, or list. */
const maxItems = 500

const Update = z.object({
  updates: z.array(z.looseObject({ recipient_did: z.string(), action: z.string() })).max(maxItems),
})
const Query = z.object({
  paginate: z
    .object({ limit: z.int().min(1).default(maxItems), offset: z.int().min(0).default(0) })
    .nullish(),
})

const onRequest =
  ({ family, toRoutingDid }: Version): Handler =>
  async (tx, house, { message, sender, address }) => {
    if (!(await grant(tx, house, sender.account, address)))
      return { type: `${family}mediate-deny`, thid: threadOf(message), body: {} }
    return {
      type: `${family}mediate-grant`,
      thid: threadOf(message),
      body: { routing_did: toRoutingDid(house.did) },
    }
  }

/** True when the account is enrolled now. If there is no room, those that nothing came of make some. */
async function grant(tx: MediatorTx, house: House, account: string, address: string): Promise<boolean> {
  if (await isEnrolled(tx, account)) return true
  await house.pace.enrolment(address)
  const enrolIfRoom = () => enrol(tx, account, house.limits.accounts, new Date(house.now()).toISOString())
  return (await enrolIfRoom()) || ((await removeUnused(tx, house.now())) > 0 && enrolIfRoom())
}

const onUpdate =
  ({ family, update: name }: Version): Handler =>
  async (tx, house, { message, sender }) => {
    const { updates } = readBody(message, Update)
    if (!(await isEnrolled(tx, sender.account))) throw notEnrolled(sender.did)
    const updated = []
    for (const { recipient_did, action } of updates) {
      updated.push({
        recipient_did,
        action,
        result: await update(tx, house, sender.account, recipient_did, action),
      })
    }
    return { type: `${family}${name}-response`, thid: threadOf(message), body: { updated } }
  }

async function update(
  tx: MediatorTx,
  house: House,
  account: string,
  did: string,
  action: string,
): Promise<UpdateResult> {
  if (!Did.safeParse(did).success || house.owns(did)) return 'client_error'
  if (action === 'remove') return removeRecipient(tx, account, routeKey(did))
  if (action !== 'add') return 'client_error'
  return addRecipient(tx, account, routeKey(did), {
    limit: house.limits.recipients,
    now: new Date(house.now()).toISOString(),
  })
}

/** A query of somebody unknown gets no answer, as the Identus mediator has it. */
const onQuery =
  ({ family, list, items }: Version): Handler =>
  async (tx, _house, { message, sender }) => {
    const { paginate } = readBody(message, Query)
    if (!(await isEnrolled(tx, sender.account))) return undefined
    const offset = paginate?.offset ?? 0
    const dids = await listRecipients(
      tx,
      sender.account,
      Math.min(paginate?.limit ?? maxItems, maxItems),
      offset,
    )
    const remaining = Math.max(0, (await countRecipients(tx, sender.account)) - offset - dids.length)
    const pagination =
      paginate || remaining > 0 ? { pagination: { count: dids.length, offset, remaining } } : {}
    return {
      type: `${family}${list}`,
      thid: threadOf(message),
      body: { [items]: dids.map((recipient_did) => ({ recipient_did })), ...pagination },
    }
  }

/** Message type → handler. */
export const mediationHandlers: Readonly<Record<string, Handler>> = Object.fromEntries(
  versions.flatMap((version) => [
    [`${version.family}mediate-request`, onRequest(version)],
    [version.family + version.update, onUpdate(version)],
    [version.family + version.query, onQuery(version)],
  ]),
)
