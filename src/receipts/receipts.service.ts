/** Receipts, shown to the person who decided and, within a tenant, to auditors. */

import { Injectable } from '@nestjs/common';
import type { Actor } from '../auth/actor.js';
import { Receipts } from '../crypto/receipts.js';
import { Problem } from '../problems/problem.js';
import { Records } from '../records/records.js';
import type { ReceiptBody, ReceiptKeysBody } from './receipts.contract.js';

@Injectable()
export class ReceiptsService {
  constructor(
    private readonly records: Records,
    private readonly receipts: Receipts,
  ) {}

  keys(): ReceiptKeysBody {
    return { keys: this.receipts.publicKeys() };
  }

  /** @throws {Problem} `receipt_unknown` */
  async get(actor: Actor, id: string): Promise<ReceiptBody> {
    const kept = await this.records.receipt(actor.tenant, id);
    const isVisible = kept !== null && (kept.subject === actor.subject || actor.scopes.has('audit:read'));
    if (!isVisible) throw new Problem('receipt_unknown');
    return { id, ...kept };
  }
}
