// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {ERC2771Context} from "@openzeppelin/contracts/metatx/ERC2771Context.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";

/**
 * @title CausewayRouter
 * @notice Moves tokens that a wallet has approved to this contract, on that wallet's own signed request, either into an
 * order's escrow or to a bridge solver. The wallet signs an ERC-2771 forward request and anyone may submit it: the
 * trusted forwarder proves the signer, so `_msgSender()` is always the wallet whose tokens move. Called directly, the
 * caller moves its own tokens. Nobody can move anyone else's, the contract never holds a balance, and it has no owner.
 *
 * @dev An id moves once per wallet. A forward request that reverted stays valid until its deadline, so a second
 * authorization of the same order could otherwise be executed beside the first. The record is kept per wallet, so a
 * stranger cannot use up an order's id.
 */
contract CausewayRouter is ERC2771Context, ReentrancyGuardTransient {
    using SafeERC20 for IERC20;

    /// @notice Whether `wallet` has already funded the escrow of `orderId` through this router.
    mapping(address wallet => mapping(bytes32 orderId => bool)) public escrowFunded;

    /// @notice Whether `wallet` has already deposited for `bridgeQuoteId` through this router.
    mapping(address wallet => mapping(bytes32 bridgeQuoteId => bool)) public bridgeDeposited;

    event EscrowFunded(
        bytes32 indexed orderId,
        address indexed token,
        address indexed from,
        address to,
        uint256 amount
    );

    event BridgeDeposited(
        bytes32 indexed bridgeQuoteId,
        address indexed token,
        address indexed from,
        address to,
        uint256 amount
    );

    /// @notice The amount or the recipient is zero.
    error NothingToMove();

    /// @notice This wallet has already moved tokens under this id.
    error AlreadyMoved(address wallet, bytes32 id);

    /// @notice The recipient's balance did not grow by exactly the amount (a fee-on-transfer or rebasing token).
    error InexactTransfer(address token, uint256 expected, uint256 received);

    constructor(address trustedForwarder) ERC2771Context(trustedForwarder) {}

    /// @notice Moves `amount` of `token` from the signer's wallet to the escrow of order `orderId`.
    function fundEscrow(bytes32 orderId, IERC20 token, address escrow, uint256 amount) external nonReentrant {
        address wallet = _msgSender();
        if (escrowFunded[wallet][orderId]) revert AlreadyMoved(wallet, orderId);
        escrowFunded[wallet][orderId] = true;
        _moveExactly(token, wallet, escrow, amount);
        emit EscrowFunded(orderId, address(token), wallet, escrow, amount);
    }

    /// @notice Moves `amount` of `token` from the signer's wallet to the solver that quoted `bridgeQuoteId`.
    function depositToBridge(bytes32 bridgeQuoteId, IERC20 token, address solver, uint256 amount) external nonReentrant {
        address wallet = _msgSender();
        if (bridgeDeposited[wallet][bridgeQuoteId]) revert AlreadyMoved(wallet, bridgeQuoteId);
        bridgeDeposited[wallet][bridgeQuoteId] = true;
        _moveExactly(token, wallet, solver, amount);
        emit BridgeDeposited(bridgeQuoteId, address(token), wallet, solver, amount);
    }

    /// @dev The delta is measured because the amount credited, not the amount asked for, is what an order settles on.
    function _moveExactly(IERC20 token, address from, address to, uint256 amount) private {
        if (amount == 0 || to == address(0)) revert NothingToMove();
        uint256 balanceBefore = token.balanceOf(to);
        token.safeTransferFrom(from, to, amount);
        uint256 balanceAfter = token.balanceOf(to);
        uint256 received = balanceAfter > balanceBefore ? balanceAfter - balanceBefore : 0;
        if (received != amount) revert InexactTransfer(address(token), amount, received);
    }
}
