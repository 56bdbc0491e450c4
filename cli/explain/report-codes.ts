/**
 * Codes of DIDComm problem reports (DIDComm v2.1 §Problem Codes): those that this agent sends, and the beginnings that the
 * specification has, by which another agent's are told.
 */
import type { Texts } from './agent-problems.ts'

// prettier-ignore
export const reportCodes: Readonly<Record<string, Texts>> = {
  'e.p.req.time.flow-expired': ['The other side took too long.', 'A thread that nobody goes on with ends after a time, which the other side has set.', 'Begin anew: a new invitation, offer or request.'],
  'e.p.req.time.invitation-expired': ['The invitation was answered too late.', 'Its time was over at the inviter.', 'Ask for a new invitation.'],
  'e.p.req.time.message-expired': ['The message came after its `expires_time`.', 'It waited too long on its way, or one of the two clocks is wrong.', 'Send it anew. Compare both clocks.'],
  'e.p.req.invitation-used': ['The invitation was used already.', 'It is for one answer, and somebody has answered before.', 'Ask for a new invitation. If it was not you, tell the inviter.'],
  'e.p.msg.offer-refused': ['The holder’s agent does not take the offer.', 'It cannot be read there, or is of a format that is not known there.', 'The comment of the report names what it is; offer it otherwise.'],
  'e.p.trust.request-refused': ['The issuer does not take the holder’s request.', 'Its proof does not show that the holder has the DID.', 'Ask for a new offer, and accept it with a DID whose keys are in the wallet.'],
  'e.p.trust.credential-refused': ['The holder does not take the credential.', 'It is not what was offered, or does not verify.', 'The comment of the report says why; offer the credential again.'],
  'e.p.msg.request-refused': ['The prover’s agent does not take the request.', 'It cannot be read there, or asks for what is not known there.', 'Ask again, otherwise.'],
  'e.p.msg.presentation-unreadable': ['The verifier cannot read the presentation.', 'It is of another format than was asked for.', 'Present again what was asked for.'],
  'e.p.presentation-verification-failed': ['The presentation does not hold.', 'A credential in it was changed, has expired, is revoked, or is not of whom the verifier trusts.', 'Present another credential; the comment of the report says what did not hold.'],
  'e.p.issuance-abandoned': ['The holder has declined the offer.', 'That is the holder’s to say.', 'Nothing, or offer something else.'],
  'e.p.crypto.message.dejavu': ['This very envelope was taken before.', 'It came twice; somebody may be sending what was overheard.', 'To send a message again, encrypt it anew.'],
  'e.p.req.not_enroll': ['Nobody picks up messages for the recipient at this mediator.', 'The recipient is not enrolled there.', 'The recipient has to enrol, or to give another address.'],
  'e.p.msg.unsupported': ['The message is of a type that is not known there.', 'The other side does not have that protocol, or not that version.', 'Use a protocol that both sides have.'],
  'e.p.me.res.storage': ['The queue of the recipient is full.', 'Too much waits that was not picked up.', 'Try again once the recipient has picked up messages.'],
  'e.m.live-mode-not-supported': ['Messages are not delivered live over this connection.', 'Live delivery needs a WebSocket.', 'Pick up over a WebSocket, or ask for deliveries one by one.'],
  'e.p.req.time': ['Something took too long, or came too soon.', 'A time that the other side has set is over, or it takes so many messages in a time.', 'Begin anew, or wait as long as the report says.'],
  'e.p.req': ['The other side cannot do it in the state it is in.', 'A message came out of turn, or what it needs is not there.', 'Show the record here; begin anew if it has ended.'],
  'e.p.msg': ['The other side does not take the message.', 'It cannot be read there, or something in it is not what it must be.', 'The comment of the report names what it is.'],
  'e.p.trust.crypto': ['A signature or an encryption does not hold.', 'A key is not the one that it must be, or something was changed.', 'Do not rely on what came; begin anew.'],
  'e.p.trust': ['The other side does not trust what came.', 'A proof or a signature does not show what it must show.', 'The comment of the report says why.'],
  'e.p.xfer': ['A message cannot be delivered.', 'The address of the recipient does not answer.', 'See that the agents reach each other: `agent doctor`.'],
  'e.p.did': ['A DID cannot be used.', 'It does not resolve there, or has no key for this.', '`agent did resolve <did>` shows what everybody sees of it.'],
  'e.p.me.res': ['The other side has run out of something.', 'Memory, storage, network or money.', 'Try again later.'],
  'e.p.me': ['Something is wrong at the other side.', 'A fault there, which the message has nothing to do with.', 'Try again later, or tell whoever runs it.'],
  'e.p.legal': ['The other side may not do it by law.', 'That is for its owner to say.', 'Ask its owner.'],
  'e.p': ['The other side has ended the whole thread for an error.', 'The comment of the report says which.', 'Begin anew once it is mended.'],
  'e.m': ['The other side refuses one message, and the thread goes on.', 'The comment of the report says why.', 'Send it otherwise.'],
  'w': ['The other side warns of something; the thread goes on.', 'The comment of the report says of what.', 'Nothing has to be done.'],
}
