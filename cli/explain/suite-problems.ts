/** The problems of the enterprise suite (service §2.13) and of the mediator role. */
import type { Texts } from './agent-problems.ts'

// prettier-ignore
export const suiteProblems = {
  '/errors/common/bad-request': ['The request is not accepted as it is.', 'Something in it is not what the endpoint takes; the detail names it.', 'Correct what the detail names.'],
  '/errors/common/unauthorized': ['The tenant’s key is missing, or not accepted.', 'It is of another daemon, or was taken back.', 'Give a tenant’s key: --api-key-file, AGENT_API_KEY or a profile that has one.'],
  '/errors/common/forbidden': ['That may not be done with this key, or from there.', 'It is for another role, or for programs on the daemon’s machine.', 'Use the other key, or make the request there.'],
  '/errors/common/not-found': ['What the request names is not there.', 'The path or the id is mistyped, or of another tenant.', 'List what there is.'],
  '/errors/common/body-too-large': ['The body of the request is too large.', 'The daemon takes no more than the detail says.', 'Send less.'],
  '/errors/common/unsupported-media-type': ['The body is of a media type that the endpoint does not take.', 'The Content-Type header is missing, or another.', 'Send JSON with `Content-Type: application/json`.'],
  '/errors/common/too-many-requests': ['Too many answers have come.', 'The endpoints that anybody may call take so many in a time.', 'Wait as long as the answer says.'],
  '/errors/common/internal': ['The daemon has failed in a way it should not.', 'There is a fault in the daemon; its log has the reason.', '`agent daemon logs` shows it. Report it with those lines.'],
  '/errors/common/unreachable': ['Nobody took the answer.', 'The endpoint in the QR code does not answer, or may not be called from here.', 'Ask for a new QR code; whoever made it has to be reachable at that address.'],
  '/errors/common/unavailable': ['It cannot be done at the moment.', 'The daemon is starting or stopping, or somebody it depends on does not answer.', 'Try again soon.'],
  '/errors/common/insufficient-storage': ['The disk is full, or cannot be written.', 'Nothing was changed.', 'Make room on the disk of the data folder, and try again.'],
  '/errors/onboard/did-request-not-found': ['There is no such DID request.', 'Its id is mistyped, or it was removed.', '`agent onboard list` shows those that there are.'],
  '/errors/onboard/did-request-expired': ['The DID request has ended.', 'It was answered already, or its time is over.', 'Ask for another: `agent onboard create`.'],
  '/errors/onboard/invalid-did': ['What was handed over is no DID that can be used.', 'It does not resolve, or is of a method that is not known here.', 'Ask for another DID request, and hand over a DID that resolves.'],
  '/errors/onboard/did-not-in-wallet': ['The DID that is to be handed over is not this wallet’s.', 'One can hand over one’s own DIDs only.', '`agent did list` shows them.'],
  '/errors/onboard/submission-refused': ['Whoever asked for a DID has not taken this one.', 'The request has ended there, or the DID is not accepted.', 'Ask for a new QR code.'],
  '/errors/authenticate/challenge-not-found': ['There is no such challenge.', 'Its id is mistyped, or it was removed.', '`agent auth list` shows those that there are.'],
  '/errors/authenticate/challenge-expired': ['The challenge has ended.', 'A challenge is good for a short time, and for one answer.', 'Ask for another: `agent auth create`.'],
  '/errors/authenticate/invalid-challenge-response': ['The answer to the challenge does not hold.', 'It is not signed by a key of the DID that it names, or answers another challenge.', 'Let nobody in on it. Make a new challenge.'],
  '/errors/authenticate/challenge-not-successful': ['Nobody has signed in by this challenge.', 'It was not answered, or its answer did not hold.', '`agent auth show <id> --wait` waits for the answer.'],
  '/errors/authenticate/token-expired': ['The token has ended.', 'It is good once, for a short time.', 'Sign in again, by a new challenge.'],
  '/errors/authenticate/foreign-challenge': ['The challenge is not this agent’s.', 'Another has made it, or it was changed.', 'Answer it where it was made.'],
  '/errors/authenticate/did-not-in-wallet': ['The DID that is to sign is not this wallet’s.', 'Only the wallet that has its keys can sign.', '`agent did list` shows them.'],
  '/errors/authenticate/submission-refused': ['Whoever made the challenge has not taken the answer.', 'It has ended there, or the signature is not accepted.', 'Ask for a new QR code.'],

  'error:MediatorError:MalformedMessage': ['The message to the mediator cannot be read.', 'A member of its body is missing, or it carries no packed message.', 'The detail names it; the sender has to send it anew.'],
  'error:MediatorError:NotEnrolled': ['Nobody picks up messages for this DID here.', 'Its owner has not enrolled it with this mediator, or has taken it back.', 'The recipient has to enrol it, or to give another mediator’s address.'],
  'error:MediatorError:LiveModeNotSupported': ['Messages are not delivered live over this connection.', 'Live delivery needs a WebSocket.', 'Pick up over a WebSocket, or ask for deliveries one by one.'],
  'error:MediatorError:MessageReplayed': ['This very envelope was taken before.', 'It came twice; somebody may be sending what was overheard.', 'To send a message again, encrypt it anew.'],
  'error:MediatorError:TooManyRequests': ['Too much came from this address.', 'The mediator takes so many messages and enrolments in a time.', 'Wait as long as the answer says.'],
  'error:MediatorError:QueueFull': ['The queue of the recipient is full.', 'Too much waits that was not picked up.', 'Try again once the recipient has picked up messages.'],
} as const satisfies Record<string, Texts>
