/** The action `n`: a new connection, offer, proof request, DID or webhook. */
import { invite } from './connection.ts'
import type { ActionContext } from './action.ts'
import { offer } from './credential.ts'
import { makeDid } from './did.ts'
import { request } from './proof.ts'
import { acceptInvitation } from './invitation.ts'
import { addWebhook } from './webhook.ts'

/** What `n` creates, by number, with its name on the command line. */
export const creations: readonly {
  name: string
  label: string
  run: (context: ActionContext) => Promise<string | undefined>
}[] = [
  { name: 'invite', label: 'Invite someone to connect', run: invite },
  { name: 'accept-invitation', label: 'Accept an invitation of any kind', run: acceptInvitation },
  { name: 'offer', label: 'Offer a credential', run: offer },
  { name: 'request', label: 'Request a proof', run: request },
  { name: 'create-did', label: 'Create a DID', run: createDid },
  { name: 'add-webhook', label: 'Add a webhook', run: addWebhook },
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
    creations.map(({ label, run }) => ({ label, value: run })),
  )
  return chosen?.(context)
}
