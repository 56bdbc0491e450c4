/** Presentation record (service §3.3). DIDComm messages: `request`, `presentation`, and `problem-report` when it does not hold. */
import { machine, type RoleOf, type StateOf } from '../machine.ts'

// prettier-ignore
export const presentationStates = machine('PresentationUpdated', [
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
  // ours: what the service document leaves open (api.md 5.3)
  ['Verifier', 'RequestSent',           'refused presentation',              'PresentationVerificationFailed', 'send problem-report'],
  ['Verifier', 'PresentationVerified',  'presentation-reject',               'PresentationRejected'                       ],
  ['Verifier', null,                    'POST /present-proof/presentations/invitation', 'InvitationGenerated'             ],
  ['Verifier', 'InvitationGenerated',   'verified presentation',             'PresentationVerified'                       ],
  ['Verifier', 'InvitationGenerated',   'refused presentation',              'PresentationVerificationFailed', 'send problem-report'],
  ['Verifier', 'InvitationGenerated',   'expired',                           'InvitationExpired'                          ],
  ['Prover',   'RequestReceived',       'request-reject',                    'RequestRejected'                            ],
  ['Prover',   'PresentationSent',      'received problem-report',           'ProblemReportReceived'                      ],
  ['Verifier', 'RequestSent',           'received problem-report',           'ProblemReportReceived'                      ],
])

export type PresentationState = StateOf<typeof presentationStates>
export type PresentationRole = RoleOf<typeof presentationStates>
