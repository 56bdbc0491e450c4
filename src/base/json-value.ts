/** Any JSON value, as one type with a name: clients that are generated from the API document need one for its recursion. */
import { z } from 'zod'

export const JsonValue = z
  .json()
  .register(z.globalRegistry, { id: 'JsonValue', description: 'Any JSON value.' })
