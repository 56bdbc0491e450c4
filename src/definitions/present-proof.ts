/** The definition of Present Proof 3.0. */
import { defineMachine } from './machine.ts'

/** The types of its messages, as the Cloud Agent writes them. */
export const presentationMessages = {
  request: 'https://didcomm.atalaprism.io/present-proof/3.0/request-presentation',
  presentation: 'https://didcomm.atalaprism.io/present-proof/3.0/presentation',
  'problem-report': 'https://didcomm.org/report-problem/2.0/problem-report',
} as const

/** The message types of the specification. A request with such a type gets an answer with such a type. */
export const didcommOrgMessages = {
  request: 'https://didcomm.org/present-proof/3.0/request-presentation',
  presentation: 'https://didcomm.org/present-proof/3.0/presentation',
} as const

// prettier-ignore
export const presentationStates = defineMachine({
  name: 'present-proof',
  topic: 'proof',
  event: 'PresentationUpdated',
  resource: { route: 'GET /present-proof/presentations/{presentationId}', id: 'presentationId', state: 'status' },
}, {
  RequestPending:                 { words: 'sending the request' },
  RequestSent:                    { words: 'waiting for the prover to present' },
  RequestReceived:                { words: 'waiting for your answer', next: 'agent proof present {id}', commands: ['proof present', 'proof reject'] },
  RequestRejected:                { words: 'the request was declined', ends: 5 },
  PresentationPending:            { words: 'making the presentation' },
  PresentationGenerated:          { words: 'sending the presentation' },
  PresentationSent:               { words: 'presented', ends: 0 },
  PresentationVerified:           { words: 'the presentation is valid', next: 'agent proof accept {id}', commands: ['proof accept', 'proof reject'], isGood: true },
  PresentationVerificationFailed: { words: 'the presentation is invalid', ends: 8 },
  PresentationAccepted:           { words: 'accepted', ends: 0 },
  PresentationRejected:           { words: 'rejected', ends: 5 },
  InvitationGenerated:            { words: 'waiting for an answer to the invitation', renew: 'agent proof request --invitation' },
  RequestCreated:                 { words: 'waiting for a wallet to present', renew: 'agent proof request --oid4vp --dcql <file>' },
  RequestExpired:                 { words: 'the request was answered too late', ends: 5, isExpired: true },
  InvitationExpired:              { words: 'the invitation was answered too late', ends: 5, isExpired: true },
  ProblemReportPending:           { words: 'failed, or took too long; reporting it to the other side', ends: 5 },
  ProblemReportSent:              { words: 'failed, or took too long', ends: 5 },
  ProblemReportReceived:          { words: 'the other side reports a problem', ends: 5 },
}, [
  // role       from                     on                                  to                       then
  ['Verifier', null,                    'POST /present-proof/presentations', 'RequestPending',        'send request'      ],
  ['Verifier', 'RequestPending',        'sent',                              'RequestSent'                                ],
  ['Verifier', 'RequestSent',           'verified presentation',             'PresentationVerified'                       ],
  ['Verifier', 'PresentationVerified',  'presentation-accept',               'PresentationAccepted'                       ],

  ['Prover',   null,                    'received request',                  'RequestReceived'                            ],
  ['Prover',   'RequestReceived',       'request-accept',                    'PresentationPending',   'make presentation' ],
  ['Prover',   'PresentationPending',   'made',                              'PresentationGenerated', 'send presentation' ],
  ['Prover',   'PresentationGenerated', 'sent',                              'PresentationSent'                           ],
], [
  // Extensions: the Cloud Agent has no such transitions.
  ['Verifier', 'RequestSent',           'refused presentation',              'PresentationVerificationFailed', 'send problem-report'],
  ['Verifier', 'PresentationVerified',  'presentation-reject',               'PresentationRejected'                       ],
  ['Verifier', null,                    'POST /present-proof/presentations/invitation', 'InvitationGenerated'             ],
  ['Verifier', 'InvitationGenerated',   'verified presentation',             'PresentationVerified'                       ],
  ['Verifier', 'InvitationGenerated',   'refused presentation',              'PresentationVerificationFailed', 'send problem-report'],
  ['Verifier', 'InvitationGenerated',   'expired',                           'InvitationExpired'                          ],
  ['Prover',   'RequestReceived',       'request-reject',                    'RequestRejected'                            ],
  ['Prover',   'PresentationSent',      'received problem-report',           'ProblemReportReceived'                      ],
  ['Verifier', 'RequestSent',           'received problem-report',           'ProblemReportReceived'                      ],
  ['Prover',   'RequestReceived',       'received problem-report',           'ProblemReportReceived'                      ],
  ['Verifier', 'RequestPending',        'flow expired',                      'ProblemReportPending',  'send problem-report'],
  ['Verifier', 'RequestSent',           'flow expired',                      'ProblemReportPending',  'send problem-report'],
  ['Prover',   'RequestReceived',       'flow expired',                      'ProblemReportPending',  'send problem-report'],
  ['Prover',   'PresentationPending',   'flow expired',                      'ProblemReportPending',  'send problem-report'],
  ['Prover',   'PresentationGenerated', 'flow expired',                      'ProblemReportPending',  'send problem-report'],
  ['Prover',   'PresentationPending',   'failed',                            'ProblemReportPending',  'send problem-report'],
  ['Verifier', 'ProblemReportPending',  'sent',                              'ProblemReportSent'                          ],
  ['Prover',   'ProblemReportPending',  'sent',                              'ProblemReportSent'                          ],
  // OpenID4VP. There is no other side that a problem could be reported to.
  ['Verifier', null,                    'POST /present-proof/presentations/openid4vp', 'RequestCreated'                   ],
  ['Verifier', 'RequestCreated',        'verified presentation',             'PresentationVerified'                       ],
  ['Verifier', 'RequestCreated',        'refused response',                  'PresentationVerificationFailed'             ],
  ['Verifier', 'RequestCreated',        'received error',                    'ProblemReportReceived'                      ],
  ['Verifier', 'RequestCreated',        'expired',                           'RequestExpired'                             ],
  ['Prover',   null,                    'POST /present-proof/presentations/openid4vp/requests', 'RequestReceived'         ],
  ['Prover',   'RequestReceived',       'request-decline',                   'RequestRejected',       'make refusal'      ],
  ['Prover',   'PresentationPending',   'delivered response',                'PresentationSent'                           ],
  ['Prover',   'PresentationPending',   'received error',                    'ProblemReportReceived'                      ],
  ['Prover',   'RequestReceived',       'expired',                           'RequestExpired'                             ],
  ['Prover',   'PresentationPending',   'expired',                           'RequestExpired'                             ],
])
