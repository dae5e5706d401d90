/** `/v1/receipts` (design §9). */

import { Controller, Get, Param, SerializeOptions } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { Actor } from '../auth/actor.js';
import { CurrentActor, Public, RequiresScope } from '../auth/decorators.js';
import { Problems } from '../problems/problems.decorator.js';
import { ReceiptBody, ReceiptKeysBody } from './receipts.contract.js';
import { ReceiptsService } from './receipts.service.js';

@ApiTags('evidence')
@Controller('v1/receipts')
export class ReceiptsController {
  constructor(private readonly receipts: ReceiptsService) {}

  // Before `:id`, which it would else be taken for.
  @Public()
  @Get('keys')
  @ApiOperation({ summary: 'The public keys that verify receipts' })
  @ApiResponse({ status: 200, standardSchema: ReceiptKeysBody })
  @SerializeOptions({ schema: ReceiptKeysBody })
  keys(): ReceiptKeysBody {
    return this.receipts.keys();
  }

  @Get(':id')
  @RequiresScope('consents:read', 'consents:decide', 'audit:read')
  @ApiOperation({ summary: 'The signed statement of one decision' })
  @ApiResponse({ status: 200, standardSchema: ReceiptBody })
  @Problems('receipt_unknown')
  @SerializeOptions({ schema: ReceiptBody })
  get(@CurrentActor() actor: Actor, @Param('id') id: string): Promise<ReceiptBody> {
    return this.receipts.get(actor, id);
  }
}
