/** AnonCreds has a revocation of its own, with registries and accumulators, which neither the real agent nor the library here supports. */
import { z } from 'zod'

/** A member that only what can be revoked has. */
export const mustNotRevoke = z
  .null('AnonCreds credentials that can be revoked are not supported here')
  .optional()
