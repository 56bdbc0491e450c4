/** What can be begun: invitations, offers, requests, DIDs. */
import { invite } from './invite.ts'
import type { Action, Desk } from './action.ts'
import { offer } from './offer.ts'
import { makeDid } from './own-dids.ts'
import { request } from './request.ts'
import { takeInvitation } from './take-invitation.ts'

const beginnings: readonly (readonly [label: string, begin: (desk: Desk) => Promise<string | undefined>])[] = [
  ['Invite somebody to connect', invite],
  ['Take an invitation: a connection, an offer, a request', takeInvitation],
  ['Offer a credential', offer],
  ['Ask for a proof', request],
  ['Make a DID', make],
]

async function make(desk: Desk): Promise<string> {
  const did = await makeDid(desk)
  desk.goTo('dids')
  return `A DID is made, with a key to authenticate and one to issue; p publishes it: ${did}`
}

/** Asks what is to be begun, and begins it. */
export const begin: Action = {
  key: 'n',
  word: 'new',
  run: async (desk) => {
    const chosen = await desk.choose(
      'What do you begin?',
      beginnings.map(([label, begin]) => ({ label, value: begin })),
    )
    return chosen?.(desk)
  },
}
