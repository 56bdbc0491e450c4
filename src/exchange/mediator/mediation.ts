/** Coordinate Mediation 2.0 and 3.0: two versions that differ in the names of messages and members. */
import * as z from 'zod'
import { Did } from '../../did/document.ts'
import type { MediatorTx } from '../../foundation/storage/database.ts'
import {
  addRecipient,
  countRecipients,
  enrol,
  isEnrolled,
  listRecipients,
  removeAbandoned,
  removeRecipient,
  type UpdateResult,
} from './accounts.ts'
import { type Handler, type MediatorContext, notEnrolled, readBody, threadOf, toRouteKey } from './handler.ts'

/** The names of messages and members of each version, and the type of `routing_did`. */
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

/** Limit on the recipients in one message. */
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
  async (tx, context, { message, sender, address }) => {
    if (!(await grant(tx, context, sender.account, address)))
      return { type: `${family}mediate-deny`, thid: threadOf(message), body: {} }
    return {
      type: `${family}mediate-grant`,
      thid: threadOf(message),
      body: { routing_did: toRoutingDid(context.identities.did) },
    }
  }

/** Enrols an account, removing abandoned accounts if the limit is reached. False when there is no room. */
async function grant(
  tx: MediatorTx,
  context: MediatorContext,
  account: string,
  address: string,
): Promise<boolean> {
  if (await isEnrolled(tx, account)) return true
  await context.rates.countEnrolment(address)
  const enrolIfRoom = () =>
    enrol(tx, account, context.config.MEDIATOR_ACCOUNT_LIMIT, new Date(context.now()).toISOString())
  return (await enrolIfRoom()) || ((await removeAbandoned(tx, context.now())) > 0 && enrolIfRoom())
}

const onUpdate =
  ({ family, update: name }: Version): Handler =>
  async (tx, context, { message, sender }) => {
    const { updates } = readBody(message, Update)
    if (!(await isEnrolled(tx, sender.account))) throw notEnrolled(sender.did)
    const updated = []
    for (const { recipient_did, action } of updates) {
      updated.push({
        recipient_did,
        action,
        result: await update(tx, context, sender.account, recipient_did, action),
      })
    }
    return { type: `${family}${name}-response`, thid: threadOf(message), body: { updated } }
  }

async function update(
  tx: MediatorTx,
  { identities, config, now }: MediatorContext,
  account: string,
  did: string,
  action: string,
): Promise<UpdateResult> {
  if (!Did.safeParse(did).success || identities.owns(did)) return 'client_error'
  if (action === 'remove') return removeRecipient(tx, account, toRouteKey(did))
  if (action !== 'add') return 'client_error'
  return addRecipient(tx, account, toRouteKey(did), {
    limit: config.MEDIATOR_RECIPIENT_LIMIT,
    now: new Date(now()).toISOString(),
  })
}

/** A query from a DID without account gets no reply, as from the Identus mediator. */
const onQuery =
  ({ family, list, items }: Version): Handler =>
  async (tx, _context, { message, sender }) => {
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

export const mediationHandlers: Readonly<Record<string, Handler>> = Object.fromEntries(
  versions.flatMap((version) => [
    [`${version.family}mediate-request`, onRequest(version)],
    [version.family + version.update, onUpdate(version)],
    [version.family + version.query, onQuery(version)],
  ]),
)
