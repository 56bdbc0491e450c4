/** Connection (service §3.1). DIDComm messages: `request` and `response`, and `problem-report` when the other side is waited for in vain. */
import { machine, type RoleOf, type StateOf } from '../engine/machine.ts'

// prettier-ignore
export const connectionStates = machine('ConnectionUpdated', [
  // role      from                         on                              to                            then
  ['Inviter', null,                        'POST /connections',            'InvitationGenerated'                          ],
  ['Inviter', 'InvitationGenerated',       'received request',             'ConnectionRequestReceived'                    ],
  ['Inviter', 'ConnectionRequestReceived', 'accept',                       'ConnectionResponsePending',  'send response'  ],
  ['Inviter', 'ConnectionResponsePending', 'sent',                         'ConnectionResponseSent'                       ],

  ['Invitee', null,                        'received invitation',          'InvitationReceived'                           ],
  ['Invitee', 'InvitationReceived',        'POST /connection-invitations', 'ConnectionRequestPending',   'send request'   ],
  ['Invitee', 'ConnectionRequestPending',  'sent',                         'ConnectionRequestSent'                        ],
  ['Invitee', 'ConnectionRequestSent',     'received response',            'ConnectionResponseReceived'                   ],
], [
  // ours: the other side refuses our last message, or never answers (api.md 5.1)
  ['Inviter', 'ConnectionResponseSent',    'received problem-report',      'ProblemReportReceived'                        ],
  ['Invitee', 'ConnectionRequestSent',     'received problem-report',      'ProblemReportReceived'                        ],
  ['Inviter', 'ConnectionResponsePending', 'flow expired',                 'ProblemReportPending',  'send problem-report' ],
  ['Invitee', 'ConnectionRequestPending',  'flow expired',                 'ProblemReportPending',  'send problem-report' ],
  ['Invitee', 'ConnectionRequestSent',     'flow expired',                 'ProblemReportPending',  'send problem-report' ],
  ['Inviter', 'ProblemReportPending',      'sent',                         'ProblemReportSent'                            ],
  ['Invitee', 'ProblemReportPending',      'sent',                         'ProblemReportSent'                            ],
])

export type ConnectionState = StateOf<typeof connectionStates>
export type ConnectionRole = RoleOf<typeof connectionStates>

/** The states in which both sides know each other, and other protocols may begin. */
export const connectedStates: readonly ConnectionState[] = [
  'ConnectionResponseSent',
  'ConnectionResponseReceived',
]
