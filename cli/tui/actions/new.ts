/** The action `n`: a new connection, offer, proof request, DID or webhook. */
import { invite } from './connection.ts'
import type { ActionContext } from './action.ts'
import { offer } from './credential.ts'
import { makeDid } from './did.ts'
import { request } from './proof.ts'
import { acceptInvitation } from './invitation.ts'
import { addWebhook } from './webhook.ts'

const kinds: readonly (readonly [
  label: string,
  run: (context: ActionContext) => Promise<string | undefined>,
])[] = [
  ['Invite someone to connect', invite],
  ['Accept an invitation of any kind', acceptInvitation],
  ['Offer a credential', offer],
  ['Request a proof', request],
  ['Create a DID', createDid],
  ['Add a webhook', addWebhook],
]

async function createDid(context: ActionContext): Promise<string> {
  const did = await makeDid(context)
  context.goTo('dids')
  return `The DID is created, with keys for authentication and assertion; p publishes it: ${did}`
}

/** The action `n`: asks for the kind and starts its action. */
export async function create(context: ActionContext): Promise<string | undefined> {
  const chosen = await context.choose(
    'New',
    kinds.map(([label, value]) => ({ label, value })),
  )
  return chosen?.(context)
}
