/** The action `n`: a new connection, offer, proof request, DID or webhook. */
import { invite } from './connection.ts'
import type { Action, Desk } from './action.ts'
import { offer } from './credential.ts'
import { makeDid } from './did.ts'
import { request } from './proof.ts'
import { takeInvitation } from './invitation.ts'
import { addWebhook } from './webhook.ts'

const beginnings: readonly (readonly [label: string, begin: (desk: Desk) => Promise<string | undefined>])[] =
  [
    ['Invite someone to connect', invite],
    ['Accept an invitation of any kind', takeInvitation],
    ['Offer a credential', offer],
    ['Request a proof', request],
    ['Create a DID', make],
    ['Add a webhook', addWebhook],
  ]

async function make(desk: Desk): Promise<string> {
  const did = await makeDid(desk)
  desk.goTo('dids')
  return `The DID is created, with keys for authentication and assertion; p publishes it: ${did}`
}

/** Asks for the kind and starts its action. */
export const begin: Action = {
  key: 'n',
  word: 'new',
  run: async (desk) => {
    const chosen = await desk.choose(
      'New',
      beginnings.map(([label, begin]) => ({ label, value: begin })),
    )
    return chosen?.(desk)
  },
}
