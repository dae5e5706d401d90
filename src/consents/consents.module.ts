import { Module } from '@nestjs/common';
import { HttpModule } from '../http/http.module.js';
import { InvocationsModule } from '../invocations/invocations.module.js';
import { AnswerSigner } from './answer-signer.js';
import { AnsweringService } from './answering.service.js';
import { BindingDoubts } from './binding-doubts.js';
import { ConsentsController } from './consents.controller.js';
import { ConsentsService } from './consents.service.js';
import { OpeningService } from './opening.service.js';
import { Refusals } from './refusals.js';
import { WithdrawingService } from './withdrawing.service.js';

@Module({
  imports: [HttpModule, InvocationsModule],
  controllers: [ConsentsController],
  providers: [AnswerSigner, AnsweringService, BindingDoubts, ConsentsService, OpeningService, Refusals, WithdrawingService],
})
export class ConsentsModule {}
