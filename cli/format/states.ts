/** What the states of service §3 mean to the person who looks at them, and the command that comes next where it is theirs to give. */

import { inStyle, type Style, type Styled } from './colour.ts'

/** `ends` is for the states after which nothing comes that one could wait for: the exit code of waiting in vain, 0 where all went well. */
/** What has states. */
export type Topic = 'connection' | 'credential' | 'proof'

export type Meaning = { words: string; next?: string; ends?: 0 | 5 | 8 }

/** By topic, then by state. `{id}` stands for the id of the record. A test compares the states with the tables of the protocols. */
// prettier-ignore
export const meanings: Readonly<Record<Topic, Readonly<Record<string, Meaning>>>> = {
  connection: {
    InvitationGenerated:        { words: 'waiting for somebody to accept the invitation' },
    ConnectionRequestReceived:  { words: 'the other side has accepted the invitation' },
    ConnectionResponsePending:  { words: 'sending the answer to the other side' },
    ConnectionResponseSent:     { words: 'connected', ends: 0 },
    InvitationReceived:         { words: 'invitation read' },
    ConnectionRequestPending:   { words: 'sending the request to the inviter' },
    ConnectionRequestSent:      { words: 'waiting for the inviter to answer' },
    ConnectionResponseReceived: { words: 'connected', ends: 0 },
    ProblemReportPending:       { words: 'took too long; telling the other side', ends: 5 },
    ProblemReportSent:          { words: 'took too long', ends: 5 },
    ProblemReportReceived:      { words: 'the other side reports a problem', ends: 5 },
  },
  credential: {
    OfferPending:        { words: 'sending the offer' },
    OfferSent:           { words: 'waiting for the holder to accept the offer' },
    OfferReceived:       { words: 'an offer to be answered', next: 'agent credential accept {id}' },
    RequestPending:      { words: 'sending the request to the issuer' },
    RequestSent:         { words: 'waiting for the issuer to issue' },
    RequestReceived:     { words: 'the holder has accepted the offer', next: 'agent credential issue {id}' },
    CredentialPending:   { words: 'making the credential' },
    CredentialGenerated: { words: 'sending the credential' },
    CredentialSent:      { words: 'issued', ends: 0 },
    CredentialReceived:  { words: 'held', next: 'agent proof list', ends: 0 },
    InvitationGenerated: { words: 'waiting for somebody to answer the invitation' },
    InvitationExpired:   { words: 'the invitation was answered too late', ends: 5 },
    ProblemReportPending:  { words: 'declined, refused, or took too long; telling the other side', ends: 5 },
    ProblemReportSent:     { words: 'declined, refused, or took too long', ends: 5 },
    ProblemReportReceived: { words: 'the other side reports a problem', ends: 5 },
  },
  proof: {
    RequestPending:                 { words: 'sending the request' },
    RequestSent:                    { words: 'waiting for the prover to present' },
    RequestReceived:                { words: 'a request to be answered', next: 'agent proof present {id}' },
    RequestRejected:                { words: 'the request was declined', ends: 5 },
    PresentationPending:            { words: 'making the presentation' },
    PresentationGenerated:          { words: 'sending the presentation' },
    PresentationSent:               { words: 'presented', ends: 0 },
    PresentationVerified:           { words: 'the presentation holds', next: 'agent proof accept {id}' },
    PresentationVerificationFailed: { words: 'the presentation does not hold', ends: 8 },
    PresentationAccepted:           { words: 'accepted', ends: 0 },
    PresentationRejected:           { words: 'rejected', ends: 5 },
    InvitationGenerated:            { words: 'waiting for somebody to answer the invitation' },
    InvitationExpired:              { words: 'the invitation was answered too late', ends: 5 },
    ProblemReportPending:           { words: 'took too long; telling the other side', ends: 5 },
    ProblemReportSent:              { words: 'took too long', ends: 5 },
    ProblemReportReceived:          { words: 'the other side reports a problem', ends: 5 },
  },
}

/** A state with its meaning, such as `OfferSent (waiting for the holder to accept the offer)`. */
export function explain(topic: Topic, state: string): string {
  const meaning = meanings[topic][state]
  return meaning ? `${state} (${meaning.words})` : state
}

/** Whether a state is a good end, a bad one, or none yet. */
export function styleOf(topic: Topic, state: string): Style {
  const ends = meanings[topic][state]?.ends
  return ends === undefined ? 'waiting' : ends === 0 ? 'good' : 'bad'
}

/** A state alone, in its colour, for a table; `words` says more than its name. */
export function shortState(topic: Topic, state: string, words = state): Styled {
  return inStyle(styleOf(topic, state), words)
}

/** A state with its meaning, as `explain` says it, in its colour. */
export function shownState(topic: Topic, state: string): Styled {
  return shortState(topic, state, explain(topic, state))
}

/** The command that comes next for a record in a state, if it is this side's turn. */
export function nextCommand(topic: Topic, state: string, id: string): string | undefined {
  return meanings[topic][state]?.next?.replace('{id}', id)
}
