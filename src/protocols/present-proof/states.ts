/** Presentation record (service §3.3). DIDComm messages: `request`, `presentation`, and `problem-report` when it does not hold or the flow expires. */
import { machine, type RoleOf, type StateOf } from '../engine/machine.ts'

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
  ['Prover',   'RequestReceived',       'received problem-report',           'ProblemReportReceived'                      ],
  ['Verifier', 'RequestPending',        'flow expired',                      'ProblemReportPending',  'send problem-report'],
  ['Verifier', 'RequestSent',           'flow expired',                      'ProblemReportPending',  'send problem-report'],
  ['Prover',   'RequestReceived',       'flow expired',                      'ProblemReportPending',  'send problem-report'],
  ['Prover',   'PresentationPending',   'flow expired',                      'ProblemReportPending',  'send problem-report'],
  ['Prover',   'PresentationGenerated', 'flow expired',                      'ProblemReportPending',  'send problem-report'],
  ['Verifier', 'ProblemReportPending',  'sent',                              'ProblemReportSent'                          ],
  ['Prover',   'ProblemReportPending',  'sent',                              'ProblemReportSent'                          ],
])

export type PresentationState = StateOf<typeof presentationStates>
export type PresentationRole = RoleOf<typeof presentationStates>
